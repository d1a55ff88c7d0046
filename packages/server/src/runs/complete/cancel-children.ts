import type { ConnectedRunners } from '../../runners/runners.ts';
import { tellRunners } from '../cancel.ts';
import type { Engine } from '../engine.ts';
import type { EndedAttempt, Settled } from './complete.ts';

type Settle = (ended: EndedAttempt) => Promise<Settled>;

/**
 * A run that ends CANCELED takes with it what it triggered between the moment when that was asked for and the one when its code heard of
 * it. Those that execute were asked to stop by the settlement itself; here their runners hear of it.
 */
export const cancelingChildren =
  (engine: Pick<Engine, 'wakes'>, runners: ConnectedRunners, settle: Settle): Settle =>
  async (ended) => {
    const settled = await settle(ended);
    if (settled.asked) tellRunners(engine, runners, settled.asked);
    return settled;
  };
