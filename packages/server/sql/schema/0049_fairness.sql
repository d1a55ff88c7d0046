-- Fairness: limits of concurrency that queues share, and weights of concurrency keys (decision 0027).

-- How many runs of several queues may execute at once, together.
create table shared_limits (
  id int generated always as identity primary key,
  env int not null,
  name text not null check (length(name) between 1 and 128),
  -- as the current version declares it
  slots int not null check (slots >= 0),
  -- set by a user, takes precedence over the declared number
  slots_override int check (slots_override >= 0),
  overridden_at timestamptz,
  created_at timestamptz not null default now(),
  unique (env, name)
);

alter table queues
  add column shared_limit_id int,
  -- how many runs a lane of this queue gives in its turn
  add column weight int not null default 1 check (weight between 1 and 100),
  -- some of its keys have a weight of their own
  add column has_key_weights boolean not null default false;
create index queues_by_shared_limit on queues (shared_limit_id) where shared_limit_id is not null;

-- Weights of single concurrency keys. The empty key stands for runs without one.
create table key_weights (
  env int not null,
  queue_id int not null,
  key text not null check (length(key) <= 512),
  -- as the current version declares it
  weight int check (weight between 1 and 100),
  -- set by a user, takes precedence over the declared one
  weight_override int check (weight_override between 1 and 100),
  primary key (queue_id, key),
  check (num_nonnulls(weight, weight_override) > 0)
);


-- The ring of a lane: the id of the shared limit of its queue, or 0. Claims do not scan the rings of limits that are used up, however many lanes
-- are in them. A new lane is in ring 0; the first claim that finds it there moves it.
alter table lanes add column ring int not null default 0;
-- For claims only, which ask for `pinned_version + 0`, because `lanes_by_queue_key` has that column as well. With the id, so that lanes which are
-- too new for a revolution are skipped within the index.
drop index lanes_ready;
create index lanes_ready on lanes (env, (pinned_version + 0), ring, turn, id) where not blocked;

-- Where the next claim goes on in the rings. `credit`: so many runs the lane at `turn + 1` may still give in its turn, which a claim has cut short.
-- `newest`: the newest lane of this revolution; null while claims come to the end of the rings.
create type ring_cursor as (turn int, credit int, newest bigint);
-- A lane in the page of a claim: how many runs it may give (`room`), and how many it may together with the others of one `queue_key` (`cap`).
create type ring_lane as (
  lane_id bigint, pinned_version int, turn int, room int, queue_key bigint, cap int, weight int, shared_limit int
);
drop function if exists claim_runs(int, text, int[], int, int, int, timestamptz);
drop function if exists rate_rooms(timestamptz, bigint[], int[], int[], int[], bigint[]);
