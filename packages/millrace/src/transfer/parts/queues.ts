import { z } from 'zod';
import type { EnvironmentClient } from '../../api/environment-client.ts';
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
  /** Null means no limit, regardless of the limit in code. */
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

/** A rate limit in the form in which it is sent. */
function rateOf({
  limit,
  period,
  burst,
  key,
}: { [K in keyof z.infer<typeof rate>]: unknown }): z.infer<typeof rate> {
  return rate.parse({ limit, period, ...(burst != null && { burst }), ...(key != null && { key }) });
}

/** Manual changes to queues. Settings declared in code are part of a deployment. */
export const queues: Part<QueueRecord> = {
  kind: 'queue',
  record,
  on: 'queues',
  read: ({ client }) => overridden(client),
  async plan(records, { client }, { override }) {
    const own = new Map<string, QueueRecord>();
    for await (const entry of overridden(client)) own.set(`${entry.type} ${entry.name}`, entry);
    const steps: Step[] = [];
    for (const entry of records) {
      const there = own.get(`${entry.type} ${entry.name}`);
      const settings = settingsOf(entry);
      if (!there && !(await hasQueue(client, entry))) {
        const name = `${entry.name}: ${settings.map(({ text }) => text).join(', ')}`;
        steps.push({ kind: 'queue', name, action: 'waits', note: queueMissing });
        continue;
      }
      // Settings that are missing in the record are not changed.
      for (const { of, text, set } of settings) {
        const value = there?.[of];
        const is = value === undefined ? 'missing' : isSameJson(value, entry[of]) ? 'same' : 'other';
        steps.push(
          compared({ kind: 'queue', name: `${entry.name}: ${text}`, is, override }, async () => {
            await set(client);
            return undefined;
          }),
        );
      }
    }
    return steps;
  },
};

interface Setting {
  readonly of: 'paused' | 'concurrencyLimit' | 'rateLimit';
  readonly text: string;
  readonly set: (client: EnvironmentClient) => Promise<unknown>;
}

/** The settings in a record; a pause first. */
function settingsOf({ name, type, paused, concurrencyLimit, rateLimit }: QueueRecord): Setting[] {
  const params = { queue: name };
  const settings: Setting[] = [];
  if (paused)
    settings.push({
      of: 'paused',
      text: 'paused',
      set: (client) => client.call('pauseQueue', { params, body: { type, action: 'pause' } }),
    });
  if (concurrencyLimit !== undefined)
    settings.push({
      of: 'concurrencyLimit',
      text: `limit ${concurrencyLimit}`,
      set: (client) => client.call('overrideQueueConcurrency', { params, body: { type, concurrencyLimit } }),
    });
  if (rateLimit !== undefined)
    settings.push({
      of: 'rateLimit',
      text: rateLimit ? `${rateLimit.limit} in ${rateLimit.period} s` : 'no rate limit',
      set: (client) => client.call('overrideQueueRateLimit', { params, body: { type, rateLimit } }),
    });
  return settings;
}

/** The reason why a step waits. */
export const queueMissing = 'the queue does not exist here: deploy its task, then import again';

export const hasQueue = (
  client: EnvironmentClient,
  { name, type }: Pick<QueueRecord, 'name' | 'type'>,
): Promise<boolean> =>
  client.call('retrieveQueue', { params: { queue: name }, query: { type } }).then(
    () => true,
    (error: unknown) => {
      if ((error as { status?: number }).status === 404) return false;
      throw error;
    },
  );
