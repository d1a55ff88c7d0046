-- Limits of rate: how many runs of a queue may start in a period (decision 0024).
--
-- `rate_limit` is as the current version declares it, `rate_limit_override` as a user sets it: `{"limit": 100, "period": 60, "burst": 10,
-- "key": "concurrencyKey"}`. The JSON value null as an override is no limit; the SQL value null is no override.
-- What a claim reads is generated: no more than `rate_burst` starts in any `rate_window`, of each concurrency key if `rate_by_key`. As
-- `limit / burst` such windows fit into a period, there are at most `limit` starts in any period.
alter table queues
  add column rate_limit jsonb,
  add column rate_limit_override jsonb,
  add column rate_limit_overridden_at timestamptz,
  add column rate_burst int generated always as ((coalesce(rate_limit_override, rate_limit) ->> 'burst')::int) stored,
  add column rate_window interval generated always as (
    ceil((coalesce(rate_limit_override, rate_limit) ->> 'period')::numeric * 1000000
         / ((coalesce(rate_limit_override, rate_limit) ->> 'limit')::int / (coalesce(rate_limit_override, rate_limit) ->> 'burst')::int)
        )::float8 * interval '1 microsecond') stored,
  add column rate_by_key boolean generated always as (coalesce(rate_limit_override, rate_limit) ->> 'key' is not null) stored;

-- When runs of a queue with a limit of rate started, as long as it matters. There is one row for the queue, with an empty key, or one for each
-- concurrency key.
create table queue_starts (
  env int not null,
  queue_id int not null,
  key text not null,
  -- times of starts by the database's clock, the oldest first, and how many there were. Close ones share the later time, so that there are
  -- at most 18 in a window.
  at timestamptz[] not null,
  n int[] not null,
  -- of all of them
  total int not null,
  -- lanes are held until then
  due timestamptz,
  primary key (queue_id, key)
) with (
  fillfactor = 70,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index queue_starts_by_due on queue_starts (due) where due is not null;

-- Since when a lane is blocked by a limit of rate. Such lanes come back in this order, as the limit allows, not when a slot comes free.
alter table lanes add column held_at timestamptz;
-- For release_held only, which asks for `queue_id + 0`, because `lanes_by_queue_key` begins with that column as well.
create index lanes_held on lanes ((queue_id + 0), held_at) where held_at is not null;
