-- What the four parts of a claim pass on to each other (docs/claims.md).

-- What one claim may take.
create type claim_scope as (
  env int, runner_id text, runner_no int,
  -- versions whose lanes the runner serves; 0 for runs without a pinned version
  pinned_versions int[],
  -- the versions on which runs without a pinned version start; null if the runner cannot execute it
  current_version int, canary int, canary_percent int,
  -- of the runs without a pinned version only those of the canary, or only the others; null for all
  only_canary boolean,
  -- free slots of the environment; null for no limit
  free_slots int,
  shared_limits int[],
  -- suspended runs are ready: their slots are not for runs that have not started
  has_owed_slots boolean,
  -- when the claim began by the clock of its server, and by that of rate limits
  at timestamptz, rate_now timestamptz
);

-- Where a claim is in the rings. It began behind the lane at `start`, and has read as far as `turn`. Up to the end of the rings it reads only
-- lanes that are not newer than `newest`; once it has `wrapped` around to the beginning, the others.
create type ring_position as (start int, turn int, newest bigint, wrapped boolean);

-- Lanes that a claim looks at together.
create type lane_page as (
  lanes ring_lane[],
  -- up to its last lane, and whether the claim has been once around with it
  reached ring_position, is_end boolean,
  -- lanes whose rate limit allows no start now, and lanes that are in another ring than that of their shared limit
  late bigint[], misplaced bigint[],
  -- of some lane: a rate limit; next to that of a whole queue a concurrency limit; a shared limit; a weight above 1
  is_rated boolean, is_crowded boolean, is_shared boolean, is_weighted boolean
);

-- What a lane may give to a claim. First the rest of a turn that an earlier claim cut short (`credit`), then `whole` turns, and up to `most`
-- with the turn that this claim may cut short. `room` is the bound of its limits without regard to turns; lanes of one `queue_key` give `cap` together.
create type lane_share as (
  lane_id bigint, pinned_version int, turn int, weight int, room int, queue_key bigint, cap int, credit int, whole int, most int
);

-- A run that a claim has leased.
create type new_lease as (
  run_id text, fence bigint, attempt int, version_id int, queue_id int, key text, sort_key bigint
);
