import { isTransient } from '../../db/errors.ts';
import type { Engine } from '../engine/engine.ts';
import type { Complete, Completion, EndedAttempt } from './attempt.ts';

export interface RetryDependencies {
  readonly engine: Engine;
  readonly complete: Complete;
  /** Whether the runner that reported it can only be answered over another connection. */
  readonly isOver: () => boolean;
}

/**
 * Completes an attempt, and tries again while PostgreSQL is away or takes nothing in, for instance for lack of space. If this process
 * ends meanwhile, the runner reports to the next one.
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
      // It can never be stored as it is. The run must end all the same, and say why.
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
    message: 'The result of this run could not be stored. The log of the server says why.',
    stackTrace: '',
  },
};
