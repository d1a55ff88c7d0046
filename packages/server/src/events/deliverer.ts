import type { Job } from '../jobs/job.ts';
import type { Timer } from '../jobs/timer.ts';
import { deliverDue, type DeliverDependencies } from './deliver.ts';

export interface DelivererDependencies extends DeliverDependencies {
  readonly timer: Timer;
}

/**
 * The job that delivers events, on the millisecond as far as this process knows of them. Once a second it looks for those that other
 * processes stored. While nothing is due, a tick reads one entry of an index.
 */
export const deliverer = ({ timer, ...dependencies }: DelivererDependencies): Job => ({
  name: 'deliverer',
  everyMs: 1_000,
  timer,
  async tick() {
    const { sql, clock } = dependencies.engine;
    const [next] = await sql<{ due: Date }[]>`select due from pending_events order by due limit 1`;
    if (!next) return false;
    if (next.due.getTime() > clock.now()) return next.due;
    // When there is nothing to take, another process delivers what is due, and is done before the next tick.
    return (await deliverDue(dependencies)) > 0;
  },
});
