import type { Settings } from './settings.ts';

/** Where a server listens: on a Unix socket in a private folder, or on a port of this machine. */
export type Listening =
  | { readonly via: 'socket'; readonly folder: string }
  | { readonly via: 'port'; readonly port: number };

/** The name of the socket is always the same. */
export const SOCKET_PORT = 5432;
export const LOOPBACK = '127.0.0.1';

export const socketSettings = (folder: string): Settings => ({
  listen_addresses: '',
  unix_socket_directories: `"${folder.replaceAll('"', '""')}"`,
  unix_socket_permissions: '0700',
  port: String(SOCKET_PORT),
});

export const portSettings = (port: number): Settings => ({
  listen_addresses: LOOPBACK,
  unix_socket_directories: '',
  port: String(port),
});
