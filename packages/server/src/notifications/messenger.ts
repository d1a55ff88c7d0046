import type { Job } from '../jobs/job.ts';
import { Timer } from '../jobs/timer.ts';
import { attempt, takeDue, type DeliverDependencies, type Taken } from './deliver.ts';

/** Deliveries under way at once, in all and to one endpoint: a slow receiver must not hold up the others. */
const maxUnderWay = 50;
const maxEach = 5;

/** The job that sends notifications which are due, until they are accepted or have been tried often enough. */
export function messenger(dependencies: DeliverDependencies): Job {
  const { log } = dependencies;
  const timer = new Timer();
  const stopping = new AbortController();
  const underWay = new Map<string, number>();
  const attempts = new Set<Promise<void>>();

  const send = (taken: Taken): void => {
    const { id } = taken.endpoint;
    underWay.set(id, (underWay.get(id) ?? 0) + 1);
    const sending = attempt(dependencies, taken, stopping.signal)
      // Its claim runs out, and it is tried again.
      .catch((error: unknown) => log.warn('job.failed', { job: 'messenger', error: String(error) }))
      .finally(() => {
        const left = (underWay.get(id) ?? 1) - 1;
        if (left > 0) underWay.set(id, left);
        else underWay.delete(id);
        attempts.delete(sending);
        timer.wakeNow();
      });
    attempts.add(sending);
  };

  return {
    name: 'messenger',
    everyMs: 1_000,
    timer,
    async tick() {
      const room = maxUnderWay - attempts.size;
      if (room <= 0) return false;
      const taken = await takeDue(dependencies, room, underWay, maxEach);
      for (const each of taken) send(each);
      // The end of each of them starts another tick.
      return false;
    },
    async stop() {
      stopping.abort();
      await Promise.all(attempts);
    },
  };
}
