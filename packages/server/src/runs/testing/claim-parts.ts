/** Composite types of the parts of a claim (sql/schema/0006_queues.sql), as JSON. */

export interface ClaimScope {
  readonly env: number;
  readonly runner_id: string;
  readonly pinned_versions: readonly number[];
  readonly current_version: number | null;
  readonly canary: number | null;
  readonly canary_percent: number | null;
  readonly only_canary: boolean | null;
  readonly rings: readonly number[];
  readonly has_ready_runs: boolean;
  readonly at: string;
  readonly rate_now: string;
}

export interface RingPosition {
  readonly start: number;
  readonly turn: number | null;
  readonly newest: number | null;
  readonly wrapped: boolean;
  readonly credit: number;
}

export interface RingLane {
  readonly lane_id: number;
  readonly pinned_version: number;
  readonly turn: number;
  readonly room: number;
  readonly queue_key: number;
  readonly cap: number;
  readonly weight: number;
  readonly shared_limit: number;
}

export interface LanePage {
  readonly lanes: readonly RingLane[];
  readonly credit: number;
  readonly reached: RingPosition;
  readonly is_end: boolean;
  readonly is_only: boolean;
  readonly rate_limited: readonly number[];
  readonly misplaced: readonly number[];
  readonly has_rate_limit: boolean;
  readonly has_queue_rate_and_concurrency: boolean;
  readonly has_shared_limit: boolean;
  readonly has_weights: boolean;
}

export interface LaneShare {
  readonly lane_id: number;
  readonly pinned_version: number;
  readonly turn: number;
  readonly weight: number;
  readonly room: number;
  readonly queue_key: number;
  readonly cap: number;
  readonly credit: number;
  readonly in_full_turns: number;
  readonly max_runs: number;
}
