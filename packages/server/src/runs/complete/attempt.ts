import type { Settlement } from '@millrace/contract/runner';
import type { LeasedAttempt } from '../../runners/runners.ts';
import type { StoppingAttempt } from '../cancel/cancel.ts';

/** How an attempt ended, and the runner it belonged to. */
export interface EndedAttempt extends LeasedAttempt, Settlement {}

/** The recorded result of the end of an attempt. */
export interface Completion {
  /** The fence was not live: nothing was recorded. */
  readonly stale: boolean;
  /** The outcome of the run: a final status, or `retry`, `released`, `returned`, `pending_version`. */
  readonly kind: string | undefined;
  /** Live attempts of descendants that must stop; their runners have not been notified yet. */
  readonly stopping?: readonly StoppingAttempt[];
}

/** Records the end of an attempt and its consequences. Rejects if PostgreSQL does not accept it. */
export type Complete = (ended: EndedAttempt) => Promise<Completion>;
