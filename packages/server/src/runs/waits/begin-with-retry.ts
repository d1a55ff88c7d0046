import type { AttemptWaited, Outcome } from '@millrace/contract/runner';
import { isTransient } from '../../db/errors.ts';
import type { ConnectedRunner } from '../../runners/runners.ts';
import { completeWithRetry, untilNextTry, type RetryDependencies } from '../complete/with-retry.ts';
import type { BeginWaits, BegunWaits } from './begin.ts';

export interface WaitDependencies extends RetryDependencies {
  readonly beginWaits: BeginWaits;
}

/**
 * Begins waits and retries while PostgreSQL is unavailable or rejects writes. If the connection ends in the meantime, the runner repeats
 * the request over the next one. An attempt whose waits can never be stored fails; otherwise it would wait forever.
 */
export async function beginWaitsWithRetry(
  dependencies: WaitDependencies,
  runner: ConnectedRunner,
  begun: BegunWaits,
): Promise<AttemptWaited> {
  const { engine, beginWaits, isOver } = dependencies;
  for (;;) {
    try {
      return await beginWaits(begun);
    } catch (error) {
      if (isOver()) throw error;
      if (isTransient(error)) await untilNextTry();
      else {
        const { run, fence } = begun;
        engine.log.warn('wait.failed', { run, error: String(error) });
        const leased = runner.leased.get(fence);
        if (leased) await completeWithRetry(dependencies, { ...leased, fence, outcome: waitNotStored });
        return { fence, state: 'stale', suspension: null, keys: [] };
      }
    }
  }
}

const waitNotStored: Outcome = {
  kind: 'failed',
  status: 'SYSTEM_FAILURE',
  error: {
    type: 'INTERNAL_ERROR',
    name: 'WaitNotStored',
    code: 'WAIT_NOT_STORED',
    message: 'A wait of this run could not be stored. See the server log for the cause.',
    stackTrace: '',
  },
};
