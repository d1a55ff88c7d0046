/** Server settings by name, as in postgresql.conf. */
export type Settings = Record<string, string>;

// Passed on the command line, so that a cluster created by an older Millrace gets the current values.
const measured: Settings = {
  // Measured values (docs/benchmarks.md). Durability (fsync, synchronous_commit) remains on, which is the default.
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  work_mem: '16MB',
  max_connections: '100',
  // Each run leaves dead rows in the hot tables: 10,000 runs per second leave 20,000 per second.
  autovacuum_naptime: '10s',
  jit: 'off',
  timezone: 'UTC',
};

const required: Settings = {
  // The supervisor parses the log on standard error, in English.
  logging_collector: 'off',
  log_destination: 'stderr',
  log_line_prefix: '',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // Statement errors go to the client. They contain row values, which must not be logged.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
};

/** The arguments `-c name=value …`. `extra` may override measured values, but not those that the supervisor and clients need. */
export function settingArguments(extra: Settings, listening: Settings): string[] {
  return Object.entries({ ...measured, ...extra, ...required, ...listening }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
}
