import { z } from 'zod';
import { maxJsonEscapes, maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { runResult } from './runs-outcome.ts';
import { cursors, date, fence, idempotencyKey, pageSize, waitKey } from './shapes.ts';
import { triggerBody, triggerOptions } from './tasks.ts';

/** Maximum number of items of a batch that is filled by a stream. */
export const batchLimit = 1_000;
/** Maximum number of items of a batch in a single request. */
export const oneShotBatchLimit = 500;
/** Maximum size of a streamed item in bytes; a larger one becomes a failed run. */
export const batchItemLimit = 3_145_728;

const taskId = z.string().min(1).max(128);
const keyOptions = z.object({ key: z.string(), scope: z.enum(['run', 'attempt', 'global']) });

/** Options of one run; those of the batch as a whole are not included. */
const itemOptions = triggerOptions.omit({ parentRunId: true, parentFence: true, waitKey: true }).optional();

/** One line of the stream that fills a batch. */
export const batchItem = z.object({
  /** Its index in the batch, starting at 0. A repeated item is ignored. */
  index: z.number().int().min(0),
  task: taskId,
  payload: z.unknown().optional(),
  options: itemOptions,
});
export type BatchItem = z.output<typeof batchItem>;

const createAccess = {
  secretKey: true,
  publicToken: true,
  action: 'batchTrigger',
  on: 'tasks',
  objects: true,
  oneTime: true,
} as const;

const opened = z.object({
  id: z.string(),
  runCount: z.number().int(),
  /** The idempotency key matched a batch that is already complete: send no items. */
  isCached: z.boolean(),
  idempotencyKey: z.string().optional(),
});

export const createBatch = operation({
  id: 'createBatch',
  method: 'POST',
  path: '/api/v3/batches',
  tag: 'batches',
  summary: 'Create a batch that is filled with items later',
  access: createAccess,
  body: z.object({
    runCount: z
      .number()
      .int()
      .min(1, 'a batch has at least one item')
      .max(batchLimit, `a batch has at most ${batchLimit} items`),
    /** The tasks that its items will trigger. A caller without permission for all of them is rejected here. */
    taskIdentifiers: z.array(taskId).min(1).optional(),
    /** The run that creates it, as for a single run. */
    parentRunId: z.string().optional(),
    parentFence: fence,
    resumeParentOnCompletion: z.boolean().optional(),
    waitKey,
    idempotencyKey: idempotencyKey.optional(),
    /** How long the key is remembered, such as `1h`. Default 30 days. */
    idempotencyKeyTTL: z.string().optional(),
    idempotencyKeyOptions: keyOptions.optional(),
  }),
  bodyLimit: 131_072,
  status: 202,
  storesRequestKey: true,
  reply: opened,
  errors: [409, 413, 422, 429],
});

export const addBatchItems = operation({
  id: 'addBatchItems',
  method: 'POST',
  path: '/api/v3/batches/:batchId/items',
  tag: 'batches',
  summary: 'Add items to a batch, one JSON object per line; the last one seals it',
  access: createAccess,
  params: z.object({ batchId: z.string().min(1).max(128) }),
  query: z.object({
    /** The run whose code sends them, with the fence of its attempt: see `parentFence` of a trigger. */
    senderRunId: z.string().min(1).max(128).optional(),
    senderFence: z.coerce.number().int().min(1).optional(),
  }),
  bodyStream: ['application/x-ndjson', 'application/ndjson'],
  storesRequestKey: true,
  reply: z.object({
    id: z.string(),
    itemsAccepted: z.number().int(),
    /** Number of items that had already been received. */
    itemsDeduplicated: z.number().int(),
    /** Whether all items have been received and the runs may start. If not, send the whole stream again. */
    sealed: z.boolean(),
    runCount: z.number().int(),
    /** Number of received items; only while the batch is not sealed. */
    enqueuedCount: z.number().int().optional(),
    expectedCount: z.number().int().optional(),
  }),
  unlimited: true,
  errors: [400, 409, 413, 415, 422],
});

export const createWholeBatch = operation({
  id: 'createWholeBatch',
  method: 'POST',
  path: '/api/v2/tasks/batch',
  tag: 'batches',
  summary: 'Trigger a batch with one request',
  access: createAccess,
  body: z.object({
    items: z
      .array(triggerBody.extend({ task: taskId, options: itemOptions }))
      .min(1, 'a batch has at least one item')
      .max(oneShotBatchLimit, `a batch in one request has at most ${oneShotBatchLimit} items`),
    parentRunId: z.string().optional(),
    parentFence: fence,
    resumeParentOnCompletion: z.boolean().optional(),
    waitKey,
  }),
  bodyLimit: 1_000_000,
  maxMembers: 2 * maxJsonMembers,
  maxEscapes: maxJsonEscapes,
  status: 202,
  storesRequestKey: true,
  reply: opened,
  errors: [409, 413, 422, 429],
});

export const batchStatuses = ['PENDING', 'PROCESSING', 'COMPLETED', 'PARTIAL_FAILED', 'ABORTED'] as const;

const batch = z.object({
  id: z.string(),
  /** `PENDING` until its last run has ended, then `COMPLETED`; `ABORTED` if it was never filled. The other statuses are not used here. */
  status: z.enum(batchStatuses),
  idempotencyKey: z.string().optional(),
  createdAt: date,
  updatedAt: date,
  runCount: z.number().int(),
  /** In the order of its items. */
  runs: z.array(z.string()),
});

/** Counts of a batch's runs by outcome. Deleted runs are not counted. */
export const batchCounts = z.object({
  /** Runs that have not ended: held by the batch, waiting or executing. */
  live: z.number().int(),
  completed: z.number().int(),
  /** FAILED, CRASHED, SYSTEM_FAILURE, TIMED_OUT. */
  failed: z.number().int(),
  /** CANCELED and EXPIRED. */
  ended: z.number().int(),
});

const progress = {
  /** Number of received items. */
  received: z.number().int(),
  /** The run whose code created it. */
  parentRunId: z.string().optional(),
  /** When its last item was received and its runs were released. */
  sealedAt: date.optional(),
  counts: batchCounts,
};

const readAccess = {
  secretKey: true,
  publicToken: true,
  action: 'read',
  on: 'batch',
  objects: true,
} as const;
const batchId = z.object({ batchId: z.string().min(1).max(128) });

export const retrieveBatch = operation({
  id: 'retrieveBatch',
  method: 'GET',
  path: '/api/v2/batches/:batchId',
  tag: 'batches',
  summary: 'Retrieve a batch',
  access: readAccess,
  params: batchId,
  reply: batch.extend({
    ...progress,
    processing: z.object({
      /** When its last item was received and its runs were released. */
      completedAt: date.optional(),
      /** Items that did not create a run. */
      errors: z.array(
        z.object({
          index: z.number().int(),
          taskIdentifier: z.string(),
          error: z.string(),
          errorCode: z.string().optional(),
        }),
      ),
    }),
  }),
  errors: [404],
});

/** A list item. */
export const listedBatch = batch.omit({ runs: true }).extend(progress);
export type ListedBatch = z.infer<typeof listedBatch>;

export const listBatches = operation({
  id: 'listBatches',
  method: 'GET',
  path: '/api/v1/batches',
  tag: 'batches',
  summary: 'List batches, newest first, with the number of ended runs',
  access: { secretKey: true, action: 'read', on: 'batch' },
  query: z.object({
    'page[size]': pageSize(25),
    /** The id of a batch. */
    'page[after]': z.string().optional(),
    /** Takes precedence over `page[after]`. */
    'page[before]': z.string().optional(),
  }),
  reply: z.object({ data: z.array(listedBatch), pagination: cursors }),
});

export const retrieveBatchBefore = operation({
  id: 'retrieveBatchBefore',
  method: 'GET',
  path: '/api/v1/batches/:batchId',
  tag: 'batches',
  summary: 'Retrieve a batch, for older clients',
  access: readAccess,
  params: batchId,
  reply: batch,
  errors: [404],
});

export const listBatchResults = operation({
  id: 'listBatchResults',
  method: 'GET',
  path: '/api/v1/batches/:batchId/results',
  tag: 'batches',
  summary: "Retrieve the outputs and errors of a batch's ended runs",
  access: { ...readAccess, publicToken: false },
  params: batchId,
  reply: z.object({ id: z.string(), items: z.array(runResult) }),
  errors: [404],
});
