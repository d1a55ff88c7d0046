import type { StorageClass } from '@millrace/contract';

/** The class of a table's data, by its name or a prefix of it. */
const classes: Readonly<Record<string, Exclude<StorageClass, 'other'>>> = {
  runs: 'runs',
  run_facets: 'runs',
  idempotency_keys: 'runs',
  outbox_receipts: 'runs',
  debounces: 'runs',
  singletons: 'runs',
  trigger_starts: 'runs',
  collecting: 'runs',
  run_parts: 'runs',
  attempts: 'runs',
  runner_names: 'runs',
  run_paths: 'runs',
  'run_stat*': 'statistics',
  fleet_sample: 'statistics',
  queued: 'waiting',
  delayed: 'waiting',
  pending_version: 'waiting',
  lanes: 'waiting',
  leases: 'waiting',
  suspended: 'waiting',
  waits: 'waiting',
  waitpoints: 'waiting',
  run_logs: 'logs',
  log_blocks: 'logs',
  run_spans: 'spans',
  run_steps: 'runs',
  'batch*': 'batches',
  'bulk*': 'batches',
  'packet*': 'packets',
  'error_*': 'errors',
  'schedule*': 'schedules',
  events: 'events',
  pending_events: 'events',
  event_waits: 'waiting',
  'notification*': 'notifications',
  'alert*': 'notifications',
  'session*': 'sessions',
  'channel*': 'sessions',
  'version*': 'deployments',
  current_versions: 'deployments',
  external_ids: 'deployments',
  tasks: 'deployments',
  'blob*': 'deployments',
  audit_log: 'audit',
};

export const classOf = (table: string): StorageClass =>
  classes[table] ??
  Object.entries(classes).find(([name]) => name.endsWith('*') && table.startsWith(name.slice(0, -1)))?.[1] ??
  'other';
