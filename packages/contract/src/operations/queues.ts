import { z } from 'zod';
import { operation } from '../operation.ts';
import { concurrencyLimit, keyWeight } from './fairness.ts';
import { rateLimit, rateLimitResponse } from './rate-limit.ts';
import { cursors, date, pageSize } from './shapes.ts';

export const queueTypes = ['task', 'custom'] as const;
export const queueSorts = ['name', 'queued', 'running', 'oldest', 'limit'] as const;

const limit = concurrencyLimit;

export const queue = z.object({
  id: z.string(),
  /** For a task's own queue, the task's id; otherwise the queue's name. */
  name: z.string(),
  type: z.enum(queueTypes),
  /** Number of live attempts. */
  running: z.number().int(),
  /** Number of runs currently waiting for a slot; excludes those that wait for a time or a version. */
  queued: z.number().int(),
  paused: z.boolean(),
  /** The concurrency limit, for each concurrency key; null if it has no limit of its own. */
  concurrencyLimit: z.number().int().nullable(),
  concurrency: z.object({
    current: z.number().int().nullable(),
    /** The value declared in code. */
    base: z.number().int().nullable(),
    override: z.number().int().nullable(),
    overriddenAt: date.nullable(),
    /** Always null: overrides come from the API. */
    overriddenBy: z.string().nullable(),
  }),
  /** The rate limit: how many runs may start in a period. */
  rateLimit: z.object({
    /** The effective limit; null for no limit. */
    current: rateLimitResponse.nullable(),
    /** The limit declared in code. */
    base: rateLimitResponse.nullable(),
    /** Null: no limit if `isOverridden`, otherwise the limit in code applies. */
    override: rateLimitResponse.nullable(),
    isOverridden: z.boolean(),
    overriddenAt: date.nullable(),
    /** How many runs may start now; null without a limit of the whole queue. */
    available: z.number().int().nullable(),
    /** When the next run may start, if none may start now; otherwise null. */
    nextStartAt: date.nullable(),
  }),
  /** How many runs each of its concurrency keys starts per turn, unless the key has its own weight. */
  weight: z.number().int(),
  /** The limit that it shares with other queues; null if it shares none. */
  sharedLimit: z.object({ name: z.string(), limit: z.number().int(), running: z.number().int() }).nullable(),
});
export type Queue = z.infer<typeof queue>;

/** A concurrency key of a queue, with its runs. */
export const queueKey = z.object({
  /** Null: runs without a key. */
  key: z.string().nullable(),
  running: z.number().int(),
  queued: z.number().int(),
  /** How many runs may start now, if the queue has a rate limit for each key. */
  available: z.number().int().optional(),
  /** When the next run may start, if none may start now. */
  nextStartAt: date.optional(),
  /** How many runs it starts per turn. */
  weight: z.number().int(),
});
export type QueueKey = z.infer<typeof queueKey>;

const queueName = z.object({ queue: z.string().min(1).max(512) });
const type = z.enum(['id', ...queueTypes]).default('id');
const read = { secretKey: true, action: 'read', on: 'queues' } as const;
const write = { secretKey: true, action: 'write', on: 'queues' } as const;

export const listQueues = operation({
  id: 'listQueues',
  method: 'GET',
  path: '/api/v1/queues',
  tag: 'queues',
  summary: 'List queues by name, or those with the most runs first',
  access: read,
  query: z.object({
    /** Part of the name, case-insensitive. A task's own queue is `task/<id>`. */
    'filter[search]': z.string().max(512).optional(),
    'filter[paused]': z
      .enum(['true', 'false'])
      .transform((text) => text === 'true')
      .optional(),
    /**
     * `queued` and `running`: the queues with the most such runs first. `oldest`: those whose oldest waiting run is the oldest. `limit`: those
     * with the lowest concurrency limit.
     */
    sort: z.enum(queueSorts).default('name'),
    /** Also return the age of the oldest waiting run of each queue. */
    oldest: z.enum(['true', 'false']).optional(),
    page: z.coerce.number().int().min(1).max(1_000_000).default(1),
    perPage: z.coerce.number().int().min(1).max(100).default(25),
  }),
  reply: z.object({
    data: z.array(
      queue.extend({
        /** Only if `oldest` is requested: milliseconds, as sampled in the last seconds; null if no run waits. */
        oldestMs: z.number().nullable().optional(),
      }),
    ),
    pagination: z.object({
      currentPage: z.number().int(),
      totalPages: z.number().int(),
      /** Number of queues that match the filters, on all pages. */
      count: z.number().int(),
    }),
  }),
});

export const retrieveQueue = operation({
  id: 'retrieveQueue',
  method: 'GET',
  path: '/api/v1/queues/:queue',
  tag: 'queues',
  summary: 'Retrieve a queue by its id, or by its task or name',
  access: read,
  params: queueName,
  query: z.object({
    type,
    /** Also list this many concurrency keys that have runs: those with the most waiting runs first. */
    keys: z.coerce.number().int().min(1).max(100).optional(),
  }),
  reply: queue.extend({ keys: z.array(queueKey).optional() }),
  errors: [404],
});

export const pauseQueue = operation({
  id: 'pauseQueue',
  method: 'POST',
  path: '/api/v1/queues/:queue/pause',
  tag: 'queues',
  summary: 'Pause or resume a queue',
  access: write,
  params: queueName,
  body: z.object({ type, action: z.enum(['pause', 'resume']) }),
  reply: queue,
  errors: [404],
});

export const overrideQueueConcurrency = operation({
  id: 'overrideQueueConcurrency',
  method: 'POST',
  path: '/api/v1/queues/:queue/concurrency/override',
  tag: 'queues',
  summary: 'Override the declared concurrency limit',
  access: write,
  params: queueName,
  body: z.object({ type, concurrencyLimit: limit }),
  reply: queue,
  errors: [404],
});

export const resetQueueConcurrency = operation({
  id: 'resetQueueConcurrency',
  method: 'POST',
  path: '/api/v1/queues/:queue/concurrency/reset',
  tag: 'queues',
  summary: 'Remove the override of the concurrency limit',
  access: write,
  params: queueName,
  body: z.object({ type }),
  reply: queue,
  errors: [404],
});

export const overrideQueueRateLimit = operation({
  id: 'overrideQueueRateLimit',
  method: 'POST',
  path: '/api/v1/queues/:queue/rate-limit/override',
  tag: 'queues',
  summary: 'Override the declared rate limit; null removes the limit',
  access: write,
  params: queueName,
  body: z.object({ type, rateLimit: rateLimit.nullable() }),
  reply: queue,
  errors: [404],
});

export const resetQueueRateLimit = operation({
  id: 'resetQueueRateLimit',
  method: 'POST',
  path: '/api/v1/queues/:queue/rate-limit/reset',
  tag: 'queues',
  summary: 'Remove the override of the rate limit',
  access: write,
  params: queueName,
  body: z.object({ type }),
  reply: queue,
  errors: [404],
});

export const setQueueKeyWeight = operation({
  id: 'setQueueKeyWeight',
  method: 'POST',
  path: '/api/v1/queues/:queue/key-weight',
  tag: 'queues',
  summary: 'Override the declared weight of a concurrency key: the number of runs in its turn',
  access: write,
  params: queueName,
  body: z.object({
    type,
    key: z.string().min(1).max(512),
    /** Null restores the weight declared in code. */
    weight: keyWeight.nullable(),
  }),
  reply: queue,
  errors: [404],
});

/** A concurrency key with its own weight. */
export const keyWeightResponse = z.object({
  /** The name of its queue; for a task's own queue the task's id. */
  queue: z.string(),
  type: z.enum(queueTypes),
  key: z.string(),
  /** The effective weight. */
  weight: z.number().int(),
  /** The weight declared in code; null if none is declared for this key. */
  base: z.number().int().nullable(),
  override: z.number().int().nullable(),
});
export type KeyWeightResponse = z.infer<typeof keyWeightResponse>;

export const listKeyWeights = operation({
  id: 'listKeyWeights',
  method: 'GET',
  path: '/api/v1/key-weights',
  tag: 'queues',
  summary: 'List the concurrency keys with a separate weight, by queue',
  access: read,
  query: z.object({
    'page[size]': pageSize(100, 1_000),
    /** The cursor from the pagination of a page. */
    'page[after]': z
      .string()
      .regex(
        /^\d{1,9}\.[^\0]{0,512}$/,
        'not a cursor of this list; send one from the pagination of a page unchanged',
      )
      .optional(),
  }),
  reply: z.object({ data: z.array(keyWeightResponse), pagination: cursors }),
});

/** A limit shared by queues, and the number of runs that execute under it. */
export const sharedLimitResponse = z.object({
  name: z.string(),
  /** The effective limit. */
  limit: z.number().int(),
  /** The limit declared in code. */
  base: z.number().int(),
  override: z.number().int().nullable(),
  overriddenAt: date.nullable(),
  /** Number of live attempts, in all of its queues. */
  running: z.number().int(),
  /** The names of its queues. */
  queues: z.array(z.string()),
});
export type SharedLimitResponse = z.infer<typeof sharedLimitResponse>;

const limitName = z.object({ name: z.string().min(1).max(128) });

export const listSharedLimits = operation({
  id: 'listSharedLimits',
  method: 'GET',
  path: '/api/v1/shared-limits',
  tag: 'queues',
  summary: 'List the shared concurrency limits by name',
  access: read,
  reply: z.object({ data: z.array(sharedLimitResponse) }),
});

export const overrideSharedLimit = operation({
  id: 'overrideSharedLimit',
  method: 'POST',
  path: '/api/v1/shared-limits/:name/override',
  tag: 'queues',
  summary: 'Override a shared concurrency limit',
  access: write,
  params: limitName,
  body: z.object({ limit }),
  reply: sharedLimitResponse,
  errors: [404],
});

export const resetSharedLimit = operation({
  id: 'resetSharedLimit',
  method: 'POST',
  path: '/api/v1/shared-limits/:name/reset',
  tag: 'queues',
  summary: 'Remove the override of a shared concurrency limit',
  access: write,
  params: limitName,
  reply: sharedLimitResponse,
  errors: [404],
});

/** Limits for all queues of an environment together. */
export const environmentConcurrency = z.object({
  paused: z.boolean(),
  /** The concurrency limit; null for no limit. */
  concurrencyLimit: z.number().int().nullable(),
  running: z.number().int(),
  queued: z.number().int(),
});
export type EnvironmentConcurrency = z.infer<typeof environmentConcurrency>;

export const retrieveConcurrency = operation({
  id: 'retrieveConcurrency',
  method: 'GET',
  path: '/api/v1/concurrency',
  tag: 'queues',
  summary: "Retrieve the environment's concurrency: running and waiting runs, and the limit",
  access: read,
  reply: environmentConcurrency,
});

export const updateConcurrency = operation({
  id: 'updateConcurrency',
  method: 'PUT',
  path: '/api/v1/concurrency',
  tag: 'queues',
  summary: 'Pause or resume an environment, or set its concurrency limit',
  access: write,
  body: z.object({ paused: z.boolean().optional(), concurrencyLimit: limit.nullable().optional() }),
  reply: environmentConcurrency,
});
