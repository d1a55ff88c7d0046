-- When triggers with a limit were accepted, as long as it matters. A limit with other numbers is another one, even with the same key.
create table trigger_starts (
  env int not null,
  task text not null,
  -- empty for the whole task
  key text not null check (length(key) <= 512),
  burst int not null,
  -- microseconds: no more than `burst` triggers are accepted in any of them
  span bigint not null,
  -- as in queue_starts
  at timestamptz[] not null,
  n int[] not null,
  -- the row is of no use from then on
  over_at timestamptz not null,
  primary key (env, task, key, burst, span)
) with (
  fillfactor = 70,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index trigger_starts_over on trigger_starts (over_at);

-- Its parameters change. PostgreSQL does not replace such a function.
drop function if exists identify_runs(
  timestamptz, int[], text[], text[], uuid[], text[], bigint[], text[], smallint[], text[], text[], timestamptz[], text[], bigint[],
  jsonb[], timestamptz[], text[], text[]);
