import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { readContent, type TypedText } from '../packets/content.ts';
import { codecOf } from '../sealing/codec.ts';
import { openRun } from './open-run.ts';
import type { AnyTask, RunHandle, TaskOutput } from '../task/types.ts';
import { sealedType } from '../sealing/envelope.ts';
import { fromWire, runId, type Run, type RunReference } from './run.ts';

/** A separately stored value in the form in which the response would contain it: plain JSON. */
function plainOf({ text, type }: TypedText): unknown {
  if (type === 'application/json') return JSON.parse(text) as unknown;
  if (type === sealedType) return JSON.parse(text) as unknown;
  return type === 'application/super+json' ? (JSON.parse(text) as { json?: unknown }).json : text;
}

/** Retrieves through the given client, including separately stored values. An outage is not waited for once the signal is aborted. */
export async function retrieveThrough(client: ApiClient, id: string, signal?: AbortSignal): Promise<Run> {
  const { payloadPresignedUrl, outputPresignedUrl, ...wire } = await client.call('retrieveRun', {
    params: { runId: id },
    signal,
  });
  const read = async (url: string) => plainOf(await readContent(client.settings, url));
  const [payload, output] = await Promise.all([
    payloadPresignedUrl === undefined ? wire.payload : read(payloadPresignedUrl),
    outputPresignedUrl === undefined ? wire.output : read(outputPresignedUrl),
  ]);
  return openRun(codecOf(client), fromWire({ ...wire, payload, output }));
}

/**
 * The current state of a run. With a handle its output has the task's type; with an id, pass the task as a type argument.
 *
 * Throws a NotFoundError when this environment has no such run. That takes about ten seconds, because a run may become visible shortly
 * after it is triggered, so the request is retried first.
 *
 * @example
 * const run = await runs.retrieve(handle);
 * if (run.isSuccess) console.log(run.output);
 * const other = await runs.retrieve<typeof resizeImage>('run_…');
 */
export function retrieve<TOutput>(handle: RunHandle<string, TOutput>): Promise<Run<TOutput>>;
export function retrieve(run: RunReference): Promise<Run>;
export function retrieve<T extends AnyTask>(id: RunReference): Promise<Run<TaskOutput<T>>>;
export async function retrieve(run: RunReference): Promise<Run> {
  return retrieveThrough(currentClient(), runId(run));
}
