import { randomUUID } from 'node:crypto';
import type { EnvironmentClient } from '../api/environment-client.ts';
import type { WaitingRun } from './runs.ts';

/** The result for a run of the file. `same`: it had already been created, by an import or by a trigger with its key. */
export type Imported =
  | { readonly id: string; readonly runId: string; readonly action: 'create' | 'same' }
  | { readonly id: string; readonly action: 'failed'; readonly error: string };

/** Maximum number of runs in a request, and of their characters. */
const maxRuns = 100;
const maxCharacters = 1_000_000;
/** Larger payloads are sent separately, before their trigger. */
const maxPayload = 500_000;

/**
 * Triggers runs in their order. A run without its own key gets one derived from its id in the file, which is stored as long as the new run:
 * repeating the import returns the same run, regardless of its outcome.
 */
export async function* triggerRuns(
  client: EnvironmentClient,
  runs: AsyncIterable<WaitingRun>,
): AsyncGenerator<Imported> {
  let batch: { id: string; item: object }[] = [];
  let characters = 0;
  const send = async (): Promise<Imported[]> => {
    const sent = batch;
    batch = [];
    characters = 0;
    return sent.length === 0 ? [] : sendBatch(client, sent);
  };
  for await (const run of runs) {
    const item = await itemOf(client, run);
    const size = JSON.stringify(item).length;
    if (run.idempotencyKey !== undefined) {
      yield* await send();
      yield await triggerOne(client, run.id, item);
      continue;
    }
    if (batch.length >= maxRuns || characters + size > maxCharacters) yield* await send();
    batch.push({ id: run.id, item });
    characters += size;
  }
  yield* await send();
}

async function sendBatch(
  client: EnvironmentClient,
  sent: readonly { id: string; item: object }[],
): Promise<Imported[]> {
  const { results } = await client.call('triggerMany', { body: { items: sent.map(({ item }) => item) } });
  const imported: Imported[] = [];
  for (const [index, { id, item }] of sent.entries()) {
    const result = results[index];
    if (result && 'id' in result) imported.push(outcome(id, result));
    // A limit or a temporary failure: it is retried separately.
    else if (result && (result.status === 429 || result.status >= 500))
      imported.push(await triggerOne(client, id, item));
    else
      imported.push({ id, action: 'failed', error: result?.error ?? 'the server returned no result for it' });
  }
  return imported;
}

/** With the key of the request, a repetition finds the run, even if the run has ended and released its own key. */
async function triggerOne(client: EnvironmentClient, id: string, item: object): Promise<Imported> {
  const { task, ...body } = item as { task: string };
  try {
    const requestKey = `import ${id}`;
    return outcome(id, await client.call('triggerTask', { params: { taskId: task }, body, requestKey }));
  } catch (error) {
    if ((error as { status?: number }).status === undefined) throw error;
    return { id, action: 'failed', error: (error as Error).message };
  }
}

function outcome(
  id: string,
  reply: { id: string; isCached: boolean; isDropped?: boolean | undefined },
): Imported {
  if (reply.isDropped) return { id, action: 'failed', error: 'dropped by the trigger limit of the task' };
  return { id, runId: reply.id, action: reply.isCached ? 'same' : 'create' };
}

async function itemOf(client: EnvironmentClient, run: WaitingRun): Promise<object> {
  const { id, task, queue, delayedUntil, isTest, createdAt: _, payload: __, ...options } = run;
  const { payload, payloadType } = await sendable(client, run);
  return {
    task,
    ...(payload !== undefined && { payload }),
    options: {
      ...options,
      ...(payloadType !== undefined && { payloadType }),
      // The task's own queue is the default and not a valid name in a trigger.
      ...(queue !== `task/${task}`.slice(0, 128) && { queue: { name: queue } }),
      ...(delayedUntil !== undefined && { delay: delayedUntil }),
      ...(isTest && { test: true }),
      ...(run.idempotencyKey === undefined && { waitKey: `import ${id}` }),
    },
  };
}

/** The payload in the form of a trigger: a large one is stored first. */
async function sendable(
  client: EnvironmentClient,
  { payload, payloadType }: WaitingRun,
): Promise<Pick<WaitingRun, 'payload' | 'payloadType'>> {
  const text = payloadType === undefined ? JSON.stringify(payload) : payload;
  if (typeof text !== 'string' || text.length <= maxPayload) return { payload, payloadType };
  const packet = `trigger/${randomUUID()}/payload`;
  const { presignedUrl, storagePath } = await client.call('createPacket', { params: { packet } });
  await client.sendContent(presignedUrl, { text, type: payloadType ?? 'application/json' });
  return { payload: storagePath, payloadType: 'application/store' };
}
