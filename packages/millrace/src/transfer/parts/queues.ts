import { z } from 'zod';
import type { EnvironmentClient } from '../client.ts';
import { compared, isSameJson, type Part, type Step } from '../part.ts';

const rate = z.object({
  limit: z.int().min(1),
  period: z.int().min(1),
  burst: z.int().min(1).optional(),
  key: z.literal('concurrencyKey').optional(),
});

const record = z.object({
  name: z.string().min(1).max(512),
  type: z.enum(['task', 'custom']),
  paused: z.boolean().optional(),
  concurrencyLimit: z.int().min(0).optional(),
  /** Null: no limit, whatever the code declares. */
  rateLimit: rate.nullable().optional(),
});
type QueueRecord = z.infer<typeof record>;

async function* overridden(client: EnvironmentClient): AsyncGenerator<QueueRecord> {
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { data, pagination } = await client.call('listQueues', {
      query: { page: String(page), perPage: '100' },
    });
    pages = pagination.totalPages;
    for (const { name, type, paused, concurrency, rateLimit } of data) {
      const { override } = concurrency;
      if (!paused && override === null && !rateLimit.isOverridden) continue;
      yield {
        name,
        type,
        ...(paused && { paused }),
        ...(override !== null && { concurrencyLimit: override }),
        ...(rateLimit.isOverridden && { rateLimit: rateLimit.override && rateOf(rateLimit.override) }),
      };
    }
  }
}

/** A limit of rate as it is sent. */
function rateOf({
  limit,
  period,
  burst,
  key,
}: { [K in keyof z.infer<typeof rate>]: unknown }): z.infer<typeof rate> {
  return rate.parse({ limit, period, ...(burst != null && { burst }), ...(key != null && { key }) });
}

/** What was changed of queues by hand. What the code declares comes with a deployment. */
export const queues: Part<QueueRecord> = {
  kind: 'queue',
  record,
  on: 'queues',
  read: ({ client }) => overridden(client),
  async plan(records, { client }, { override }) {
    const own = new Map<string, QueueRecord>();
    for await (const one of overridden(client)) own.set(`${one.type} ${one.name}`, one);
    const steps: Step[] = [];
    for (const one of records) {
      const there = own.get(`${one.type} ${one.name}`);
      const found = there ?? (await exists(client, one));
      const name = `${one.name}: ${inWords(one)}`;
      if (!found) {
        steps.push({
          kind: 'queue',
          name,
          action: 'waits',
          note: 'the queue is not here: deploy its task, then import again',
        });
        continue;
      }
      // What is not in the record is not changed.
      const differing =
        there && Object.keys(one).some((key) => isOther(there, one, key as keyof QueueRecord));
      const isSame =
        there &&
        Object.keys(one).every((key) =>
          isSameJson(there[key as keyof QueueRecord], one[key as keyof QueueRecord]),
        );
      const is = isSame ? 'same' : differing ? 'other' : 'missing';
      steps.push(compared({ kind: 'queue', name, is, override }, () => change(client, one)));
    }
    return steps;
  },
};

/** Whether the target has set it to something else. */
const isOther = (there: QueueRecord, one: QueueRecord, key: keyof QueueRecord): boolean =>
  there[key] !== undefined && !isSameJson(there[key], one[key]);

const inWords = ({ paused, concurrencyLimit, rateLimit }: QueueRecord): string =>
  [
    paused ? 'paused' : '',
    concurrencyLimit === undefined ? '' : `limit ${concurrencyLimit}`,
    rateLimit === undefined
      ? ''
      : rateLimit
        ? `${rateLimit.limit} in ${rateLimit.period} s`
        : 'no limit of rate',
  ]
    .filter(Boolean)
    .join(', ');

const exists = (client: EnvironmentClient, { name, type }: QueueRecord): Promise<boolean> =>
  client.call('retrieveQueue', { params: { queue: name }, query: { type } }).then(
    () => true,
    (error: unknown) => {
      if ((error as { status?: number }).status === 404) return false;
      throw error;
    },
  );

async function change(client: EnvironmentClient, one: QueueRecord): Promise<undefined> {
  const { name, type, paused, concurrencyLimit, rateLimit } = one;
  const params = { queue: name };
  if (concurrencyLimit !== undefined)
    await client.call('overrideQueueConcurrency', { params, body: { type, concurrencyLimit } });
  if (rateLimit !== undefined)
    await client.call('overrideQueueRateLimit', { params, body: { type, rateLimit } });
  if (paused) await client.call('pauseQueue', { params, body: { type, action: 'pause' } });
  return undefined;
}

const shared = z.object({ name: z.string().min(1).max(128), limit: z.int().min(0) });

/** Limits that queues share, where they were changed by hand. */
export const sharedLimits: Part<z.infer<typeof shared>> = {
  kind: 'shared-limit',
  record: shared,
  on: 'queues',
  async *read({ client }) {
    for (const { name, override } of (await client.call('listSharedLimits')).data)
      if (override !== null) yield { name, limit: override };
  },
  async plan(records, { client }, { override }) {
    const own = new Map((await client.call('listSharedLimits')).data.map((one) => [one.name, one]));
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
