import { z } from 'zod';
import { compared, type Part, type Step } from '../part.ts';

const shared = z.object({ name: z.string().min(1).max(128), limit: z.int().min(0) });

/** Shared limits that were changed manually. */
export const sharedLimits: Part<z.infer<typeof shared>> = {
  kind: 'shared-limit',
  record: shared,
  on: 'queues',
  async *read({ client }) {
    for (const { name, override } of (await client.call('listSharedLimits')).data)
      if (override !== null) yield { name, limit: override };
  },
  async plan(records, { client }, { override }) {
    const own = new Map((await client.call('listSharedLimits')).data.map((limit) => [limit.name, limit]));
    return records.map(({ name, limit }): Step => {
      const there = own.get(name);
      const kind = 'shared-limit';
      if (!there)
        return {
          kind,
          name,
          action: 'waits',
          note: 'no version here declares it: deploy, then import again',
        };
      const is = there.override === limit ? 'same' : there.override === null ? 'missing' : 'other';
      return compared({ kind, name: `${name}: ${limit}`, is, override }, async () => {
        await client.call('overrideSharedLimit', { params: { name }, body: { limit } });
        return undefined;
      });
    });
  },
};
