import type { Job } from '../jobs/job.ts';
import type { Timer } from '../jobs/timer.ts';
import { fireDue, type FireDependencies } from './fire.ts';

export interface SchedulerDependencies extends FireDependencies {
  readonly timer: Timer;
}

/**
 * The job that fires schedules, on the millisecond as far as this process knows of them. Once a second it looks for those that other
 * processes made. While nothing is due, a tick reads one entry of an index.
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
    // When there is nothing to claim, another process fires what is due, and is done before the next tick.
    return (await fireDue(dependencies)) > 0;
  },
});
