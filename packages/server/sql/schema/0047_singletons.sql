-- Of the runs of a task and singleton key, at most one executes and at most one waits. A row exists while one of them is live. The row is locked
-- by whoever triggers, and by whoever ends one of its runs (release_singleton).
create table singletons (
  env int not null,
  task text not null,
  -- empty for the whole task
  key text not null check (length(key) <= 512),
  -- the latest run
  run_id text collate "C" not null,
  -- The live run before it, if there is one: until it has ended, `run_id` is in `delayed` and due at infinity.
  previous text collate "C",
  primary key (env, task, key)
);

alter table runs add column singleton_key text;

-- Functions whose parameters or result change. PostgreSQL does not replace those.
drop function if exists identify_runs(
  timestamptz, int[], text[], text[], uuid[], text[], bigint[], text[], smallint[], text[], text[], timestamptz[], text[], bigint[],
  jsonb[], timestamptz[]);
drop function if exists dispatch_new_runs(
  timestamptz, bigint, text[], int[], text[], text[], text[], int[], text[], int[], bigint[], timestamptz[], timestamptz[], text[],
  text[], text[], boolean[], text[], text[], int[]);
