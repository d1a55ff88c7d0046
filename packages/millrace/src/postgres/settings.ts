/** Server settings by name, as in postgresql.conf. */
export type Settings = Record<string, string>;

// Given on the command line, so that a cluster made by an older Millrace gets today's values.
const measured: Settings = {
  // The measured choice (docs/benchmarks.md); durability (fsync, synchronous_commit) stays at its default: on.
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  work_mem: '16MB',
  max_connections: '100',
  // Each run leaves dead rows in the tables that it passes through: at 10,000 runs a second 20,000 a second.
  autovacuum_naptime: '10s',
  jit: 'off',
  timezone: 'UTC',
};

const required: Settings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  // The supervisor reads the log from the server's standard error and knows its English wording.
  logging_collector: 'off',
  log_destination: 'stderr',
  log_line_prefix: '',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // Errors of statements go to the client that sent them; their details hold row values, which no log may show.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  // A data folder is always served on the same name in its own socket folder.
  port: '5432',
};

/** The arguments `-c name=value …`; `extra` may override what was measured, not what the supervisor relies on. */
export function settingArguments(extra: Settings): string[] {
  return Object.entries({ ...measured, ...extra, ...required }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
}

export const PORT = 5432;
