import type { Operations, Reply } from '@millrace/contract';
import { decode } from '../payload/decode.ts';

/** The result of a run. */
export type RunResult<TId extends string = string, TOutput = unknown> =
  | { readonly ok: true; readonly id: string; readonly taskIdentifier: TId; readonly output: TOutput }
  | { readonly ok: false; readonly id: string; readonly taskIdentifier: TId; readonly error: SubtaskError };

/** The run did not complete. Its own error, if any, is the `cause`. */
export class SubtaskError extends Error {
  override readonly name = 'SubtaskError';
  readonly runId: string;
  readonly taskIdentifier: string;

  constructor(taskIdentifier: string, runId: string, cause: Error) {
    super(`The run ${runId} of task ${taskIdentifier} failed: ${cause.message}`, { cause });
    this.runId = runId;
    this.taskIdentifier = taskIdentifier;
  }
}

/** A result as the API sends it, its output read by its type. */
export function resultOf<TId extends string, TOutput>(
  wire: Reply<Operations['retrieveRunResult']>,
): RunResult<TId, TOutput> {
  const { id } = wire;
  const taskIdentifier = wire.taskIdentifier as TId;
  if (wire.ok) {
    return { ok: true, id, taskIdentifier, output: decode(wire.output ?? null, wire.outputType) as TOutput };
  }
  const { message, name, stackTrace, code } = wire.error as Readonly<Record<string, unknown>>;
  const cause = new Error(typeof message === 'string' ? message : 'It failed.');
  cause.name = typeof name === 'string' ? name : 'Error';
  if (typeof stackTrace === 'string' && stackTrace !== '') cause.stack = stackTrace;
  else delete cause.stack;
  if (typeof code === 'string') Object.assign(cause, { code });
  return { ok: false, id, taskIdentifier, error: new SubtaskError(taskIdentifier, id, cause) };
}
