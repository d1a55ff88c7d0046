import { inParallel } from '@millrace/platform';
import { tasks } from '@millrace/sdk';
import { incidents } from '../incidents.ts';
import { orderOf } from '../orders.ts';
import type { Random } from '../random.ts';
import type { Shop } from '../shop.ts';

type ReleaseNumber = 1 | 2 | 3;

interface Trigger {
  readonly task: string;
  readonly payload: unknown;
  readonly tags: string[];
}

const goodOrders: Readonly<Record<ReleaseNumber, number>> = { 1: 6, 2: 8, 3: 22 };
const channels = ['web', 'web', 'web', 'app', 'marketplace'];

/** The runs of a release: orders without problems, with its incidents in between. */
export async function runOrders(
  { random, nextOrder }: Shop,
  release: ReleaseNumber,
  version?: string,
): Promise<void> {
  const triggers: Trigger[] = [];
  for (let count = goodOrders[release]; count > 0; count--) {
    const payload = orderOf(random, nextOrder());
    triggers.push({ task: 'checkout', payload, tags: [`channel:${random.pick(channels)}`] });
  }
  for (const { task, payload, releases = [3], times } of incidents) {
    if (!releases.includes(release)) continue;
    for (let count = times; count > 0; count--)
      triggers.push({
        task,
        payload: payload(random, nextOrder()),
        tags: [`channel:${random.pick(channels)}`],
      });
  }
  await inParallel(shuffled(triggers, random), 12, ({ task, payload, tags }) =>
    tasks.trigger(task, payload, { tags, ...(version !== undefined && { version }) }),
  );
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const mixed = [...items];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = random.whole(0, last);
    [mixed[last], mixed[other]] = [mixed[other] as T, mixed[last] as T];
  }
  return mixed;
}
