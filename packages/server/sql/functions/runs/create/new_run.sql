-- A trigger for create_runs, with named attributes: new_run(env => 1, id => 'run_…', task => 'mail', queue_id => 1, …). Omitted attributes are
-- null. The function is inlined into the calling statement. A release that adds an attribute adds a parameter with a default, so servers of the
-- previous release can still call it.
--
-- Locks: none.
-- Callers: runs/create/parameters.ts.
create or replace function new_run(
  env int default null,
  id text default null,
  task text default null,
  queue_id int default null,
  concurrency_key text default null,
  payload text default null,
  payload_type text default null,
  metadata text default null,
  sort_key bigint default null,
  priority_ms int default null,
  ttl int default null,
  max_attempts int default null,
  max_duration int default null,
  request_key uuid default null,
  delayed_until timestamptz default null,
  version_id int default null,
  batch_id text default null,
  parent_id text default null,
  root_id text default null,
  depth smallint default null,
  tags text[] default null,
  path_facets text[] default null,
  machine text default null,
  region text default null,
  description text default null,
  is_test boolean default null,
  idempotency_key text default null,
  idempotency_key_options jsonb default null,
  debounce_key text default null,
  singleton_key text default null,
  collect_key text default null,
  schedule_id text default null,
  event text default null,
  traceparent text default null,
  replay_of text default null,
  external_deployment_id text default null,
  state text default null,
  expires_at timestamptz default null,
  parent_fence bigint default null,
  idempotency_expires_at timestamptz default null,
  debounce_max_ms bigint default null,
  debounce_data jsonb default null,
  singleton_conflict text default null,
  limit_key text default null,
  limit_burst int default null,
  limit_span bigint default null,
  limit_drops boolean default null,
  collect_lane text default null,
  collect_max int default null,
  collect_ms bigint default null,
  part text default null,
  part_meta jsonb default null,
  runner_id text default null,
  runner_version int default null
) returns new_run
language sql immutable parallel safe
as $$
  select row (
    env, id, task, queue_id, concurrency_key, payload, payload_type, metadata, sort_key, priority_ms, ttl, max_attempts, max_duration,
    request_key, delayed_until, version_id, batch_id, parent_id, root_id, depth, tags, path_facets, machine, region, description, is_test,
    idempotency_key, idempotency_key_options, debounce_key, singleton_key, collect_key, schedule_id, event, traceparent, replay_of,
    external_deployment_id, state, expires_at, parent_fence, idempotency_expires_at, debounce_max_ms, debounce_data, singleton_conflict,
    limit_key, limit_burst, limit_span, limit_drops, collect_lane, collect_max, collect_ms, part, part_meta, runner_id, runner_version,
    null, null, null, null
  )::new_run
$$;
