import { attempt, claimDue, type DeliverDependencies, type ClaimedDelivery } from './deliver.ts';

/** Concurrent deliveries in total, and to one endpoint: a slow receiver must not delay the others. */
const maxActive = 50;
const maxEach = 5;
const everyMs = 1_000;

interface Running {
  hurry(): void;
  stop(): Promise<void>;
}

/** Starts a job: it ticks until it is stopped, with a pause after a tick that returns false. */
type Start = (duty: { name: string; everyMs: number; round(): Promise<boolean> }) => Running;

/** Sends notifications that are due, again and again until they are accepted or have been tried often enough. */
export function startDeliveryJob(dependencies: DeliverDependencies, start: Start): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const active = new Map<string, number>();
  const attempts = new Set<Promise<void>>();
  const { log } = dependencies;

  const send = (claimed: ClaimedDelivery): void => {
    const { id } = claimed.endpoint;
    active.set(id, (active.get(id) ?? 0) + 1);
    const sending = attempt(dependencies, claimed, stopping.signal)
      // Another process tries again when the claim expires.
      .catch((error: unknown) => log.warn('upkeep.failed', { duty: 'messenger', error: String(error) }))
      .finally(() => {
        const left = (active.get(id) ?? 1) - 1;
        if (left > 0) active.set(id, left);
        else active.delete(id);
        attempts.delete(sending);
        duty.hurry();
      });
    attempts.add(sending);
  };

  const duty = start({
    name: 'messenger',
    everyMs,
    async round() {
      const room = maxActive - attempts.size;
      if (room <= 0 || stopping.signal.aborted) return false;
      const claimed = await claimDue(dependencies, room, active, maxEach);
      for (const each of claimed) send(each);
      // The end of each delivery wakes the job.
      return false;
    },
  });

  return {
    async stop() {
      stopping.abort();
      await duty.stop();
      await Promise.all(attempts);
    },
  };
}
