import { z } from 'zod';
import type { EnvironmentClient } from '../../api/environment-client.ts';
import { compared, type Part, type Step } from '../part.ts';
import { hasQueue, queueMissing } from './queues.ts';

const record = z.object({
  queue: z.string().min(1).max(512),
  type: z.enum(['task', 'custom']),
  key: z.string().min(1).max(512),
  weight: z.int().min(1),
});
type WeightRecord = z.infer<typeof record>;

async function* overridden(client: EnvironmentClient): AsyncGenerator<WeightRecord> {
  let after: string | undefined;
  do {
    const { data, pagination } = await client.call('listKeyWeights', {
      query: { 'page[size]': '1000', ...(after !== undefined && { 'page[after]': after }) },
    });
    for (const { queue, type, key, override } of data)
      if (override !== null) yield { queue, type, key, weight: override };
    after = pagination.next;
  } while (after !== undefined);
}

const nameOf = ({ queue, type, key }: WeightRecord): string => JSON.stringify([type, queue, key]);

/** Weights of concurrency keys that were set manually. */
export const keyWeights: Part<WeightRecord> = {
  kind: 'key-weight',
  record,
  on: 'queues',
  read: ({ client }) => overridden(client),
  async plan(records, { client }, { override }) {
    const own = new Map<string, number>();
    for await (const entry of overridden(client)) own.set(nameOf(entry), entry.weight);
    const isHere = new Map<string, boolean>();
    const steps: Step[] = [];
    for (const entry of records) {
      const { queue, type, key, weight } = entry;
      const kind = 'key-weight';
      const name = `${queue} ${key}: ${weight}`;
      const known = `${type} ${queue}`;
      if (!isHere.has(known)) isHere.set(known, await hasQueue(client, { name: queue, type }));
      if (!isHere.get(known)) {
        steps.push({ kind, name, action: 'waits', note: queueMissing });
        continue;
      }
      const there = own.get(nameOf(entry));
      const is = there === undefined ? 'missing' : there === weight ? 'same' : 'other';
      steps.push(
        compared({ kind, name, is, override }, async () => {
          await client.call('setQueueKeyWeight', { params: { queue }, body: { type, key, weight } });
          return undefined;
        }),
      );
    }
    return steps;
  },
};
