-- Batching: one run for the triggers of a task and key that come within a time (decision 0028). While such a run collects it is in `delayed`.

-- The run that collects under a key. When that run is no longer delayed, the row has no meaning and the next trigger takes it over. The row is
-- locked by whoever adds a payload.
create table collecting (
  env int not null,
  task text not null,
  -- empty for the whole task
  key text not null check (length(key) <= 512),
  -- where the run goes: payloads for another queue, concurrency key or version are not for this run
  lane text not null,
  run_id text collate "C" not null,
  due timestamptz not null,
  primary key (env, task, key, lane)
);
create index collecting_over on collecting (due);

-- A payload of a run that collects. When the run stops collecting, they are put together in `runs.payload`. For a day the row goes on to
-- tell which run the request led to.
create table run_parts (
  env int not null,
  run_id text collate "C" not null,
  position int not null check (position > 0),
  -- JSON; null once the run has stopped collecting
  payload text,
  -- how to read it, where it is not plain JSON
  meta jsonb,
  -- of all payloads up to this one
  bytes bigint not null,
  request_key uuid,
  closed_at timestamptz,
  primary key (env, run_id, position)
);
create unique index run_parts_by_request on run_parts (env, request_key) where request_key is not null;
create index run_parts_over on run_parts (closed_at) where closed_at is not null;

-- Not null for a run that collects or has collected.
alter table runs add column collect_key text;

-- Functions whose parameters or result change. PostgreSQL does not replace those.
drop function if exists identify_runs(
  timestamptz, int[], text[], text[], uuid[], text[], bigint[], text[], smallint[], text[], text[], timestamptz[], text[], bigint[],
  jsonb[], timestamptz[], text[], text[], text[], int[], bigint[], boolean[]);
drop function if exists dispatch_new_runs(
  timestamptz, bigint, text[], int[], text[], text[], text[], int[], text[], int[], bigint[], timestamptz[], timestamptz[], text[],
  text[], text[], boolean[], text[], text[], int[], boolean[]);
