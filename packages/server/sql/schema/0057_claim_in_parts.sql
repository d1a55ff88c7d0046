-- What the four parts of a claim pass on to each other (docs/claims.md).

-- What one claim may take.
create type claim_scope as (
  env int, runner_id text, runner_no int,
  -- versions whose lanes the runner serves; 0 for runs without a pinned version
  pinned_versions int[],
  -- the version on which runs without a pinned version start; null if the runner cannot execute it
  current_version int, canary int, canary_percent int,
  -- of the runs without a pinned version only those of the canary, or only the others; null for all
  only_canary boolean,
  -- free slots of the environment; null for no limit
  free_slots int,
  -- the shared limits of the environment, and the rings that a claim reads: 0 and those of shared limits that allow a start
  shared_limits int[], rings int[],
  -- suspended runs are ready: their slots are not for runs that have not started
  has_ready_runs boolean,
  -- when the claim began by the clock of its server, and by that of rate limits
  at timestamptz, rate_now timestamptz
);

-- Where a claim is in the rings. Its revolution began behind the turn `start`, and it has read as far as `turn`. Up to the end of the rings it
-- reads only lanes that are not newer than `newest` (null for all), and once it has `wrapped` around to the beginning, the others.
-- `credit`: so many runs the lane at `start + 1` may still give of a turn that an earlier claim cut short.
create type ring_position as (start int, turn int, newest bigint, wrapped boolean, credit int);

-- Lanes that a claim looks at together.
create type lane_page as (
  lanes ring_lane[],
  -- that of the position behind which the page begins
  credit int,
  -- up to its last lane
  reached ring_position,
  -- whether it is the last page of its revolution, and whether it is the only one
  is_end boolean, is_only boolean,
  -- lanes whose rate limit allows no start now, and lanes that are in another ring than that of their shared limit
  rate_limited bigint[], misplaced bigint[],
  -- of some lane: a rate limit; one of a whole queue that has a concurrency limit as well; a shared limit; a weight above 1
  has_rate_limit boolean, has_queue_rate_and_concurrency boolean, has_shared_limit boolean, has_weights boolean
);

-- What a lane may give to a claim. First the rest of a turn that an earlier claim cut short (`credit`), then so many runs `in_full_turns`, and up to
-- `max_runs` with the turn that this claim may cut short. `room` is the bound of its limits without regard to turns; lanes of one `queue_key` give
-- `cap` together.
create type lane_share as (
  lane_id bigint, pinned_version int, turn int, weight int, room int, queue_key bigint, cap int, credit int, in_full_turns int, max_runs int
);

-- Lanes that cannot give: their rate limit allows no start now; another limit is used up, or their queue is paused; they are in another ring than
-- that of their shared limit; they have no runs.
create type retired_lanes as (rate_limited bigint[], at_limit bigint[], misplaced bigint[], empty bigint[]);

-- A run that a claim has leased.
create type new_lease as (
  run_id text, fence bigint, attempt int, version_id int, queue_id int, key text, sort_key bigint
);
