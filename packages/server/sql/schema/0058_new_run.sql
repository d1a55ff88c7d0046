-- One row for a run that is about to be created (docs/decisions/0033-one-row-for-a-run.md).

-- Lanes and their runs are found by this when runs are enqueued.
create type waiting_run as (
  env int, queue_id int, key text, pinned_version int, sort_key bigint, run_id text, expires_at timestamptz
);

-- A trigger on its way to be a run. Its attributes are those of runs/create/row.ts, in that order.
create type new_run as (
  env int, id text, task text, queue_id int, concurrency_key text, payload text, payload_type text, metadata text, sort_key bigint,
  priority_ms int, ttl int, max_attempts int, max_duration int, request_key uuid, delayed_until timestamptz, version_id int,
  batch_id text, parent_id text, root_id text, depth smallint, tags text[], path_facets text[], machine text, region text,
  description text, is_test boolean, idempotency_key text, idempotency_key_options jsonb, debounce_key text, singleton_key text,
  collect_key text, schedule_id text, event text, traceparent text, replay_of text, external_deployment_id text,

  -- What decides about the run and is not stored with it. `state`: `queued`, `delayed`, `pendingVersion`, or `held` by a batch that is not sealed.
  state text, expires_at timestamptz,
  -- the attempt of the parent that triggers it; null for any run
  parent_fence bigint,
  idempotency_expires_at timestamptz, debounce_max_ms bigint, debounce_data jsonb, singleton_conflict text,
  limit_key text, limit_burst int, limit_span bigint, limit_drops boolean,
  collect_lane text, collect_max int, collect_ms bigint, part text, part_meta jsonb,
  -- a runner of the calling process with a free slot, and its version
  runner_id text, runner_version int,

  -- What became of the trigger (identify_runs).
  target_id text, is_cached boolean, refused text, wait_until timestamptz
);
drop function if exists identify_runs(
  timestamptz, int[], text[], text[], uuid[], text[], bigint[], text[], smallint[], text[], text[], timestamptz[], text[], bigint[], jsonb[],
  timestamptz[], text[], text[], text[], int[], bigint[], boolean[], text[], text[], int[], bigint[], text[], jsonb[]);
