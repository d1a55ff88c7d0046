/**
 * How things are done that Unix and Windows have no common way for. `unix`: sockets and files with rights, signals, a shell. `windows`:
 * a port with a password, messages and programs instead of signals, Node.js instead of a shell. Tests on Linux run both.
 */
export type Ways = 'unix' | 'windows';

/** The ways of this system. */
export const ownWays: Ways = process.platform === 'win32' ? 'windows' : 'unix';
