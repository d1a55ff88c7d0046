import type { Job } from '../jobs/job.ts';
import { Timer } from '../jobs/timer.ts';
import { attempt, takeDue, type Taken, type DeliverDependencies } from './deliver.ts';

/** Maximum concurrent deliveries, in total and per endpoint, so that a slow receiver does not delay the others. */
const maxActive = 50;
const maxEach = 5;

/** The job that sends due notifications, until they are accepted or the last retry has failed. */
export function messenger(dependencies: DeliverDependencies): Job {
  const { log } = dependencies;
  const timer = new Timer();
  const stopping = new AbortController();
  const active = new Map<string, number>();
  const attempts = new Set<Promise<void>>();

  const send = (claimed: Taken): void => {
    const { id } = claimed.endpoint;
    active.set(id, (active.get(id) ?? 0) + 1);
    const sending = attempt(dependencies, claimed, stopping.signal)
      // Another process tries again when the claim expires.
      .catch((error: unknown) => log.warn('job.failed', { job: 'messenger', error: String(error) }))
      .finally(() => {
        const left = (active.get(id) ?? 1) - 1;
        if (left > 0) active.set(id, left);
        else active.delete(id);
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
      const free = maxActive - attempts.size;
      if (free <= 0) return false;
      const claimed = await takeDue(dependencies, free, active, maxEach);
      for (const each of claimed) send(each);
      // The end of each delivery starts another tick.
      return false;
    },
    async stop() {
      stopping.abort();
      await Promise.all(attempts);
    },
  };
}
