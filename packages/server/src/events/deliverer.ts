import type { Job } from '../jobs/job.ts';
import type { Timer } from '../jobs/timer.ts';
import { deliverDue, type DeliverDependencies } from './deliver.ts';

export interface DelivererDependencies extends DeliverDependencies {
  readonly timer: Timer;
}

/**
 * The job that delivers events, accurate to the millisecond for the times known to this process. Once a second it checks for events stored
 * by other processes. While nothing is due, a tick reads one index entry.
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
    // If nothing can be claimed, another process is delivering the due events, and finishes before the next tick.
    return (await deliverDue(dependencies)) > 0;
  },
});
