import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import type { AnyTask, RunHandle, TaskOutput } from '../task/types.ts';
import { fromWire, runId, type Run, type RunReference } from './run.ts';

/** Retrieves through a given client. */
export async function retrieveThrough(client: ApiClient, id: string): Promise<Run> {
  return fromWire(await client.call('retrieveRun', { params: { runId: id } }));
}

/**
 * The run as it is now. From a handle its output has the task's type; for a bare id, name the task.
 *
 * Throws a NotFoundError when this environment has no such run. That takes about ten seconds: a run may be visible a little
 * later than it is triggered, so the request is retried first.
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
