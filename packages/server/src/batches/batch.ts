import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Dispatch } from '../runs/dispatch.ts';
import type { Engine } from '../runs/engine.ts';
import type { NewRun } from '../runs/row.ts';

/** What the verbs of batches work with. */
export interface Batches {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake' | 'expect'>;
  /** Cuts the environment's secrets out of what a run is triggered with. */
  readonly redact: (run: NewRun) => Promise<NewRun>;
}

/** A batch as it is being filled. */
export interface BatchRow {
  readonly id: string;
  readonly run_count: number;
  readonly received: number;
  readonly created_at: Date;
  readonly sealed_at: Date | null;
  readonly aborted_at: Date | null;
  readonly parent_run_id: string | null;
  readonly idempotency_key: string | null;
}
