/**
 * The mechanisms that differ between Unix and Windows. `unix`: sockets and files with permissions, signals, a shell. `windows`: a port with
 * a password, messages and programs instead of signals, Node.js instead of a shell. Tests on Linux run both.
 */
export type Ways = 'unix' | 'windows';

/** The mechanisms of this system. */
export const ownWays: Ways = process.platform === 'win32' ? 'windows' : 'unix';
