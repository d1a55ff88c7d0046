-- Queues, and the tables that locate waiting and executing runs.
--
-- The five tables that locate a run (0005_runs.sql) and `lanes` alternate between empty and full, while their files remain large. If VACUUM
-- or ANALYZE runs at the wrong moment, the statistics report no rows. The planner then considers every access path equally cheap. It may
-- choose an index on the first column of the key, or a join that reads the whole table for each row. Every lookup then reads all dead rows
-- until the next autovacuum. For that reason each lookup has only one possible plan, regardless of statistics (runs/engine/plans.test.ts):
--   * No two indexes of such a table begin with a column that one statement compares with. A queue belongs to one environment, so lanes
--     and leases are found by their queue. Where the environment must match as well, it is compared as `env + 0`, which no index can serve.
--   * A row is read by its key in a lateral subquery with a limit, which the planner cannot turn into another kind of join. Where there may
--     be several rows `offset 0` has the same effect.
--   * `(select true … limit 1) is null` replaces `not exists`, which the planner may turn into a join with the whole table.
--   * `num_nulls(x) = 1` replaces `x is null` next to a whole key, because the planner might use an index that begins with `x` for the latter.
--   * Bitmap scans are avoided: they do not mark dead index entries, so the next scan reads them again.
-- Their autovacuum starts after a fixed number of dead rows, does not pause, and never locks the table to shorten its file.

create table queues (
  id int generated always as identity primary key,
  env int not null,
  name text not null check (length(name) between 1 and 128),
  -- as declared by the current version; null means no limit of its own
  concurrency_limit int check (concurrency_limit >= 0),
  -- set by a user, takes precedence over the declared one
  concurrency_override int check (concurrency_override >= 0),
  overridden_at timestamptz,
  -- How many runs may start in a period (decision 0024), as declared by the current version and as set by a user: `{"limit": 100, "period": 60,
  -- "burst": 10, "key": "concurrencyKey"}`. An override of JSON null means no limit; SQL null means no override.
  rate_limit jsonb,
  rate_limit_override jsonb,
  rate_limit_overridden_at timestamptz,
  -- Generated columns for claims: at most `rate_burst` starts in any `rate_window`, per concurrency key if `rate_by_key`. `limit / burst` such
  -- windows fit into a period, so any period has at most `limit` starts.
  rate_burst int generated always as ((coalesce(rate_limit_override, rate_limit) ->> 'burst')::int) stored,
  rate_window interval generated always as (
    ceil((coalesce(rate_limit_override, rate_limit) ->> 'period')::numeric * 1000000
         / ((coalesce(rate_limit_override, rate_limit) ->> 'limit')::int / (coalesce(rate_limit_override, rate_limit) ->> 'burst')::int)
        )::float8 * interval '1 microsecond') stored,
  rate_by_key boolean generated always as (coalesce(rate_limit_override, rate_limit) ->> 'key' is not null) stored,
  shared_limit_id int,
  -- how many runs a lane of this queue provides in one turn
  weight int not null default 1 check (weight between 1 and 100),
  -- whether some of its keys have their own weight
  has_key_weights boolean not null default false,
  paused boolean not null default false,
  -- A trigger creates the queue of its task, even if the task name is mistyped. Lists omit such queues until a version has the task.
  is_declared boolean not null default true,
  created_at timestamptz not null default now(),
  unique (env, name)
);
create index queues_by_shared_limit on queues (shared_limit_id) where shared_limit_id is not null;

-- Fairness: concurrency limits that queues share, and weights of concurrency keys (decision 0027).

-- How many runs of several queues together may execute at once.
create table shared_limits (
  id int generated always as identity primary key,
  env int not null,
  name text not null check (length(name) between 1 and 128),
  -- as declared by the current version
  slots int not null check (slots >= 0),
  -- set by a user, takes precedence over the declared number
  slots_override int check (slots_override >= 0),
  overridden_at timestamptz,
  created_at timestamptz not null default now(),
  unique (env, name)
);

-- Weights of individual concurrency keys. The empty key applies to runs without one.
create table key_weights (
  env int not null,
  queue_id int not null,
  key text not null check (length(key) <= 512),
  -- as declared by the current version
  weight int check (weight between 1 and 100),
  -- set by a user, takes precedence over the declared one
  weight_override int check (weight_override between 1 and 100),
  primary key (queue_id, key),
  check (num_nonnulls(weight, weight_override) > 0)
);

-- When runs of a rate-limited queue started, for as long as this affects the limit. There is one row for the queue, with an empty key, or one
-- for each concurrency key.
create table queue_starts (
  env int not null,
  queue_id int not null,
  key text not null,
  -- start times by the database's clock, oldest first, and the number of starts at each. Close starts share the later time, so that a window
  -- has at most 18.
  at timestamptz[] not null,
  n int[] not null,
  -- total number of starts
  total int not null,
  -- lanes are blocked until this time
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

-- Lanes created one after the other are adjacent in the ring, in blocks of 64. The rows that a claim reads and writes for one lane are then
-- mostly close to those of the lane before. The blocks are in random order, so new lanes do not always follow old ones, and no key is always
-- first.
create sequence lane_turns;
create function lane_turn(n bigint) returns int language sql immutable as
$$ select ((hashint8(n / 64) & 33554431) * 64 + n % 64)::int $$;

-- A lane is one waiting line: a queue of an environment, one of its concurrency keys, and the version its runs are pinned to. The version
-- is an id, or 0 for the version that is current at the time. Lanes at their limit are blocked and then cost nothing.
create table lanes (
  id bigint generated always as identity primary key,
  env int not null,
  queue_id int not null,
  key text not null,
  pinned_version int not null,
  blocked boolean not null default false,
  -- When a rate limit blocked the lane. Such lanes return in this order as the limit allows, not when a slot becomes free.
  rate_limited_at timestamptz,
  -- The id of the shared limit of its queue, or 0. Claims do not scan the rings of exhausted limits, regardless of the number of their
  -- lanes. A new lane is in ring 0; the first claim that finds it there moves it.
  ring int not null default 0,
  -- position in the ring, which claims scan
  turn int not null default lane_turn(nextval('lane_turns')),
  constraint lanes_by_queue_key unique (queue_id, key, pinned_version)
) with (
  fillfactor = 70,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
-- Only for claims, which compare `pinned_version + 0`, because `lanes_by_queue_key` has that column as well. Includes the id, so that lanes
-- too new for a revolution are skipped within the index.
create index lanes_ready on lanes (env, (pinned_version + 0), ring, turn, id) where not blocked;
create index lanes_blocked on lanes (env) where blocked;
-- Only for release_rate_limited, which compares `queue_id + 0`, because `lanes_by_queue_key` begins with that column as well.
create index lanes_rate_limited on lanes ((queue_id + 0), rate_limited_at) where rate_limited_at is not null;

create table queued (
  lane_id bigint not null,
  sort_key bigint not null,
  run_id text collate "C" not null,
  env int not null,
  expires_at timestamptz,
  primary key (lane_id, sort_key, run_id)
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index queued_by_expiry on queued (expires_at) where expires_at is not null;

create table delayed (
  env int not null,
  run_id text collate "C" not null,
  due timestamptz not null,
  -- between two attempts, not before the first: such a run is EXECUTING, not DELAYED
  retry boolean not null default false,
  primary key (env, run_id)
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index delayed_by_due on delayed (due);
create index delayed_first on delayed (env, run_id) where not retry;
create index delayed_again on delayed (env, run_id) where retry;

create table pending_version (
  env int not null,
  task text not null,
  run_id text collate "C" not null,
  -- set for a run that waits for the deployment with this client-chosen id rather than for a version with its task
  external_id text,
  expires_at timestamptz,
  primary key (env, task, run_id)
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index pending_version_by_expiry on pending_version (expires_at) where expires_at is not null;
-- Only for lists, which use these expressions. Other statements look up a task or the whole key.
create index pending_version_by_run on pending_version ((env + 0), (run_id || ''));
create index pending_version_by_external_id on pending_version (external_id, env, run_id) where external_id is not null;

create sequence lease_fences;

create table leases (
  env int not null,
  run_id text collate "C" not null,
  -- proves that an attempt is the live one: it increases with every lease
  fence bigint not null default nextval('lease_fences'),
  runner_id text collate "C" not null,
  -- key of `runner_names`
  runner_no int,
  queue_id int not null,
  key text not null,
  version_id int not null,
  attempt int not null,
  leased_at timestamptz not null,
  cancel_requested boolean not null default false,
  primary key (env, run_id)
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
-- Counts the executing runs of a queue and concurrency key. There is no counter.
create index leases_by_queue_key on leases (queue_id, key);

-- The key by which lanes and their runs are found when runs are enqueued.
create type waiting_run as (
  env int, queue_id int, key text, pinned_version int, sort_key bigint, run_id text, expires_at timestamptz
);

-- The types below are the input of a claim and the values that its four parts pass on (docs/claims.md).

-- Where the next claim continues in the rings. `credit`: the number of runs that the lane at `turn + 1` may still provide in a turn that a
-- claim cut short. `newest`: the newest lane of this revolution; null while claims reach the end of the rings.
create type ring_cursor as (turn int, credit int, newest bigint);

-- The scope of one claim.
create type claim_scope as (
  env int, runner_id text, runner_no int,
  -- versions whose lanes the runner serves; 0 for runs without a pinned version
  pinned_versions int[],
  -- the version on which runs without a pinned version start; null if the runner cannot execute it
  current_version int, canary int, canary_percent int,
  -- whether runs without a pinned version are only those of the canary (true) or only the others (false); null for all
  only_canary boolean,
  -- free slots of the environment; null means no limit
  free_slots int,
  -- the shared limits of the environment, and the rings that a claim reads: 0 and those of shared limits that allow a start
  shared_limits int[], rings int[],
  -- suspended runs are ready: their slots are not available to runs that have not started
  has_ready_runs boolean,
  -- when the claim began, by its server's clock and by the rate-limit clock
  at timestamptz, rate_now timestamptz
);

-- The position of a claim in the rings. Its revolution began after the turn `start`, and it has read up to `turn`. Up to the end of the
-- rings it reads only lanes that are not newer than `newest` (null for all), and after it has `wrapped` around to the beginning, the
-- others. `credit`: the number of runs that the lane at `start + 1` may still provide in a turn that an earlier claim cut short.
create type ring_position as (start int, turn int, newest bigint, wrapped boolean, credit int);

-- A lane in the page of a claim: the number of runs it may provide (`room`), and the number for all lanes with its `queue_key` together
-- (`cap`).
create type ring_lane as (
  lane_id bigint, pinned_version int, turn int, room int, queue_key bigint, cap int, weight int, shared_limit int
);

-- Lanes that a claim processes together.
create type lane_page as (
  lanes ring_lane[],
  -- the credit of the position after which the page begins
  credit int,
  -- the position of its last lane
  reached ring_position,
  -- whether it is the last page of its revolution, and whether it is the only one
  is_end boolean, is_only boolean,
  -- lanes whose rate limit allows no start now, and lanes in a ring other than that of their shared limit
  rate_limited bigint[], misplaced bigint[],
  -- whether some lane has a rate limit; one of a whole queue that also has a concurrency limit; a shared limit; a weight above 1
  has_rate_limit boolean, has_queue_rate_and_concurrency boolean, has_shared_limit boolean, has_weights boolean
);

-- The runs that a lane may provide to a claim. First the rest of a turn that an earlier claim cut short (`credit`), then the number of runs
-- `in_full_turns`, and up to `max_runs` with the turn that this claim may cut short. `room` is the bound of its limits without regard to
-- turns; lanes of one `queue_key` provide `cap` together.
create type lane_share as (
  lane_id bigint, pinned_version int, turn int, weight int, room int, queue_key bigint, cap int, credit int, in_full_turns int, max_runs int
);

-- Lanes that cannot provide runs: their rate limit allows no start now; another limit is exhausted, or their queue is paused; they are in a
-- ring other than that of their shared limit; they have no runs.
create type retired_lanes as (rate_limited bigint[], at_limit bigint[], misplaced bigint[], empty bigint[]);

-- A run that a claim has leased.
create type new_lease as (
  run_id text, fence bigint, attempt int, version_id int, queue_id int, key text, sort_key bigint
);
