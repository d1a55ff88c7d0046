import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Dispatch } from '../runs/dispatch/dispatch.ts';
import type { Engine } from '../runs/engine/engine.ts';
import type { FindRedactor } from '../runs/create/redact-metadata.ts';
import type { NewRun } from '../runs/create/row.ts';

/** The dependencies of batch operations. */
export interface Batches {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake' | 'expect'>;
  readonly redactor: FindRedactor;
}

/** A batch while it is being filled. */
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

/** An item of a batch, ready to be written. */
export interface PreparedItem {
  readonly run: NewRun;
  /** Its line exceeded the maximum length: it becomes a failed run. */
  readonly isOversized: boolean;
}

export interface Filled {
  readonly accepted: number;
  readonly deduplicated: number;
  /** Number of existing items. */
  readonly received: number;
  readonly sealed: boolean;
}

export interface Written {
  readonly filled: Filled;
  /** Call this after the commit: runs may start now, or become due. */
  readonly notify: (batches: Pick<Batches, 'dispatch'>) => void;
}
