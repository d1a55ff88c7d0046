import { attempt, takeDue, type DeliverDependencies, type Taken } from './deliver.ts';

/** Deliveries under way at once, in all and to one endpoint: a slow receiver must not hold up the others. */
const maxUnderWay = 50;
const maxEach = 5;
const everyMs = 1_000;

interface Running {
  hurry(): void;
  stop(): Promise<void>;
}

/** Repeats a round until it is stopped, with a pause where a round answers that nothing is left. */
type Start = (duty: { name: string; everyMs: number; round(): Promise<boolean> }) => Running;

/** Sends notifications that are due, again and again until they are accepted or have been tried often enough. */
export function startMessenger(dependencies: DeliverDependencies, start: Start): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const under = new Map<string, number>();
  const attempts = new Set<Promise<void>>();
  const { log } = dependencies;

  const send = (taken: Taken): void => {
    const { id } = taken.endpoint;
    under.set(id, (under.get(id) ?? 0) + 1);
    const sending = attempt(dependencies, taken, stopping.signal)
      // It is taken for lost when its claim runs out, and tried again.
      .catch((error: unknown) => log.warn('upkeep.failed', { duty: 'messenger', error: String(error) }))
      .finally(() => {
        const left = (under.get(id) ?? 1) - 1;
        if (left > 0) under.set(id, left);
        else under.delete(id);
        attempts.delete(sending);
        duty.hurry();
      });
    attempts.add(sending);
  };

  const duty = start({
    name: 'messenger',
    everyMs,
    async round() {
      const room = maxUnderWay - attempts.size;
      if (room <= 0 || stopping.signal.aborted) return false;
      const taken = await takeDue(dependencies, room, under, maxEach);
      for (const each of taken) send(each);
      // The end of each of them starts another round.
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
