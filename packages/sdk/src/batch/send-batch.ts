import type { ApiClient } from '../client/api-client.ts';
import { keyMembers } from '../idempotency-keys/create.ts';
import { withinAttempt } from '../run-scope.ts';
import { triggerMembers } from '../task/trigger.ts';
import type { TriggerOptions } from '../task/trigger-options.ts';
import type { BatchHandle } from './handle.ts';

/** A run of a batch, with its types erased. */
export interface BatchItem {
  readonly task: string;
  readonly payload: unknown;
  readonly options?: TriggerOptions | undefined;
}

export interface SendBatchOptions {
  readonly idempotencyKey?: string | readonly string[] | undefined;
  readonly idempotencyKeyTTL?: string | undefined;
  /** Lets a repeated attempt find the batch that it created before. */
  readonly waitKey?: string | undefined;
  /** The run that creates the batch. */
  readonly parentRunId?: string | undefined;
  /** The fence of the parent's attempt. */
  readonly parentFence?: number | undefined;
  /** Whether that run waits until the batch has ended. */
  readonly resumeParentOnCompletion?: boolean | undefined;
}

/** Thrown when the server accepted an upload but items are missing, which means that an intermediary drops parts of requests. */
export class BatchNotSealedError extends Error {
  override readonly name = 'BatchNotSealedError';
  readonly batchId: string;

  constructor(batchId: string, enqueued: number, expected: number) {
    super(
      `The batch ${batchId} received ${enqueued} of its ${expected} items after all attempts to send them.`,
    );
    this.batchId = batchId;
  }
}

/** Approximate number of characters per upload; a longer item is sent alone. */
const uploadLength = 4_000_000;
const maxRounds = 5;

/** Opens a batch and fills it, unless an idempotency key matched a complete one. */
export async function sendBatch(
  client: ApiClient,
  items: readonly BatchItem[],
  options: SendBatchOptions,
): Promise<BatchHandle> {
  // The API does not accept a batch without items.
  if (items.length === 0) return { batchId: '', runCount: 0, isCached: false, publicAccessToken: undefined };
  return withinAttempt(() => openAndFill(client, items, options));
}

async function openAndFill(
  client: ApiClient,
  items: readonly BatchItem[],
  { idempotencyKey, ...options }: SendBatchOptions,
): Promise<BatchHandle> {
  // Serialized before the batch is opened, so that a payload that cannot be serialized leaves nothing behind.
  const lines = await Promise.all(
    items.map(async ({ task, payload, options: own }, index) => {
      const members = await triggerMembers(client, task, payload, own, undefined, `items[${index}].`);
      return `{"index":${index},"task":${JSON.stringify(task)}${members && ','}${members}}\n`;
    }),
  );
  const { reply, header } = await client.callWithHeaders('createBatch', {
    body: {
      runCount: items.length,
      taskIdentifiers: [...new Set(items.map((item) => item.task))].toSorted(),
      ...options,
      ...(idempotencyKey !== undefined && (await keyMembers(idempotencyKey))),
    },
  });
  const { id, runCount, isCached } = reply;
  if (!isCached) await upload(client, id, lines, options);
  return { batchId: id, runCount, isCached, publicAccessToken: header('x-trigger-jwt') };
}

async function upload(
  client: ApiClient,
  batchId: string,
  lines: readonly string[],
  { parentRunId, parentFence }: SendBatchOptions,
): Promise<void> {
  const query = parentFence === undefined ? {} : { senderRunId: parentRunId, senderFence: parentFence };
  let last = { enqueued: 0, expected: lines.length };
  for (let round = 0; round < maxRounds; round += 1) {
    for (const text of uploadsOf(lines)) {
      const filled = await client.call('addBatchItems', {
        params: { batchId },
        query,
        text,
        headers: { 'content-type': 'application/x-ndjson' },
      });
      if (filled.sealed) return;
      last = { enqueued: filled.enqueuedCount ?? 0, expected: filled.expectedCount ?? lines.length };
    }
  }
  throw new BatchNotSealedError(batchId, last.enqueued, last.expected);
}

function* uploadsOf(lines: readonly string[]): Generator<string> {
  let from = 0;
  while (from < lines.length) {
    let length = 0;
    let to = from;
    do length += lines[to++]!.length;
    while (to < lines.length && length + lines[to]!.length <= uploadLength);
    yield lines.slice(from, to).join('');
    from = to;
  }
}
