import type { ConnectedRunners } from '../workers/runners.ts';
import { cancelRun } from './cancel.ts';
import type { Engine } from './engine.ts';
import type { EndedAttempt, Settled } from './settle.ts';

type Settle = (ended: EndedAttempt) => Promise<Settled>;

/**
 * Cancels what a run triggered between the moment when it was cancelled and the one when its code heard of it: those runs were not
 * there to be found. Once its attempt is over, no more of them come.
 */
export const cancelingChildren =
  (engine: Engine, runners: ConnectedRunners, settle: Settle): Settle =>
  async (ended) => {
    const settled = await settle(ended);
    if (settled.kind === 'CANCELED') {
      await cancelRun(engine, runners, ended.env, ended.run).catch((error: unknown) => {
        engine.log.warn('cancel.failed', { run: ended.run, error: String(error) });
      });
    }
    return settled;
  };
