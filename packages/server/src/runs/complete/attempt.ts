import type { Settlement } from '@millrace/contract/runner';
import type { Held } from '../../runners/runners.ts';
import type { AskedToStop } from '../cancel/cancel.ts';

/** How an attempt ended, and whose it was. */
export interface EndedAttempt extends Held, Settlement {}

/** What was recorded of the end of an attempt. */
export interface Completion {
  /** The fence was not live: nothing was recorded. */
  readonly stale: boolean;
  /** What became of the run: a final status, or `retry`, `released`, `returned`, `pending_version`. */
  readonly kind: string | undefined;
  /** Live attempts of runs below it that were asked to stop; their runners do not know yet. */
  readonly asked?: readonly AskedToStop[];
}

/** Records the end of an attempt, with what follows from it. Rejects when PostgreSQL does not take it. */
export type Complete = (ended: EndedAttempt) => Promise<Completion>;
