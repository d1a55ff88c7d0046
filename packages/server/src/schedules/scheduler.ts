import type { Job } from '../jobs/job.ts';
import type { Timer } from '../jobs/timer.ts';
import { fireDue, type FireDependencies } from './fire.ts';

export interface SchedulerDependencies extends FireDependencies {
  readonly timer: Timer;
}

/**
 * The job that fires schedules, accurate to the millisecond for the times known to this process. Once a second it checks for schedules
 * created by other processes. While nothing is due, a tick reads one index entry.
 */
export const scheduler = ({ timer, ...dependencies }: SchedulerDependencies): Job => ({
  name: 'scheduler',
  everyMs: 1_000,
  timer,
  async tick() {
    const { sql, clock } = dependencies.engine;
    const [next] = await sql<{ next_at: Date }[]>`
      select next_at from schedules where next_at is not null order by next_at limit 1`;
    if (!next) return false;
    if (next.next_at.getTime() > clock.now()) return next.next_at;
    // If nothing can be claimed, another process is firing the due schedules, and finishes before the next tick.
    return (await fireDue(dependencies)) > 0;
  },
});
