import { isTransient } from '../../db/errors.ts';
import type { Engine } from '../engine/engine.ts';
import type { Complete, Completion, EndedAttempt } from './attempt.ts';

export interface RetryDependencies {
  readonly engine: Engine;
  readonly complete: Complete;
  /** Whether the reporting runner can only be reached over another connection. */
  readonly isOver: () => boolean;
}

/**
 * Completes an attempt, and retries while PostgreSQL is unavailable or rejects writes, for instance for lack of space. If this process ends in
 * the meantime, the runner reports to the next one.
 */
export async function completeWithRetry(
  { engine, complete, isOver }: RetryDependencies,
  reported: EndedAttempt,
): Promise<Completion> {
  let { outcome } = reported;
  for (;;) {
    try {
      return await complete({ ...reported, outcome });
    } catch (error) {
      if (isOver()) throw error;
      engine.log.warn('complete.failed', { run: reported.run, error: String(error) });
      // This outcome can never be stored. The run must end anyway, with the reason as its error.
      if (isTransient(error)) await untilNextTry();
      else if (outcome === resultNotStored) throw error;
      else outcome = resultNotStored;
    }
  }
}

export const untilNextTry = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 250));

const resultNotStored: EndedAttempt['outcome'] = {
  kind: 'failed',
  status: 'SYSTEM_FAILURE',
  error: {
    type: 'INTERNAL_ERROR',
    name: 'ResultNotStored',
    code: 'RESULT_NOT_STORED',
    message: 'The result of this run could not be stored. See the server log for the cause.',
    stackTrace: '',
  },
};
