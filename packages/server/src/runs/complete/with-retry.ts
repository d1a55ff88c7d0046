import type { AttemptWaited } from '@millrace/contract/runner';
import { isTransient } from '../../db/errors.ts';
import type { ConnectedRunner } from '../../runners/runners.ts';
import type { Engine } from '../engine.ts';
import type { EndedAttempt, Settled } from './complete.ts';
import { waitNotStored, type BeginWaits, type BegunWaits } from '../waits/begin.ts';

export interface RetryDependencies {
  readonly engine: Engine;
  readonly settle: (ended: EndedAttempt) => Promise<Settled>;
  readonly beginWaits: BeginWaits;
  /** Whether the runner that told it can only be answered over another connection. */
  readonly isOver: () => boolean;
}

/**
 * While PostgreSQL is away or takes nothing in, such as without space, an outcome waits here; if this process ends meanwhile, the runner
 * tells the next one.
 */
export async function completeWithRetry(
  { engine, settle, isOver }: RetryDependencies,
  ended: EndedAttempt,
): Promise<Settled> {
  for (;;) {
    try {
      return await settle(ended);
    } catch (error) {
      if (isOver()) throw error;
      engine.log.warn('settle.failed', { run: ended.run, error: String(error) });
      // It will never be taken as it is. The run must end all the same, and say why.
      if (!isTransient(error)) return settle({ ...ended, outcome: unstorable });
      await untilNextTry();
    }
  }
}

/** While PostgreSQL is away or takes nothing in it is tried again; if the connection ends meanwhile, the runner asks again over the next one. */
export async function beginWaitsWithRetry(
  dependencies: RetryDependencies,
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
        // It would wait for ever for what was never written down.
        engine.log.warn('wait.failed', { run: begun.run, error: String(error) });
        const { fence } = begun;
        const held = runner.held.get(fence);
        if (held) await completeWithRetry(dependencies, { ...held, fence, outcome: waitNotStored });
        return { fence, state: 'stale', spell: null, keys: [] };
      }
    }
  }
}

const untilNextTry = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 250));

const unstorable: EndedAttempt['outcome'] = {
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
