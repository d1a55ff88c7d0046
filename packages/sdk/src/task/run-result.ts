import type { Operations, Reply } from '@millrace/contract';
import type { ApiClient } from '../client/api-client.ts';
import { decode } from '../payload/decode.ts';
import { abortBrand } from '../retry/abort-task-run-error.ts';
import { codecOf } from '../sealing/codec.ts';
import { openError } from '../sealing/errors.ts';
import { openText } from '../sealing/values.ts';
import { revivedError } from './revived-error.ts';

/** The result of a run. */
export type RunResult<TId extends string = string, TOutput = unknown> =
  | { readonly ok: true; readonly id: string; readonly taskIdentifier: TId; readonly output: TOutput }
  | { readonly ok: false; readonly id: string; readonly taskIdentifier: TId; readonly error: SubtaskError };

/** The run did not complete. Its own error, if any, is the `cause`. */
export class SubtaskError extends Error {
  override readonly name = 'SubtaskError';
  readonly runId: string;
  readonly taskIdentifier: string;
  /**
   * Whether the code of the run ruled out further attempts, by an AbortTaskRunError or by `skipRetrying`. If rethrown, this error also
   * makes the calling run fail, because another attempt would trigger the same work again. To retry anyway, throw a different error with
   * this one as its `cause`.
   */
  readonly isFinal: boolean;

  constructor(taskIdentifier: string, runId: string, cause: Error, isFinal = false) {
    super(`The run ${runId} of task ${taskIdentifier} failed: ${cause.message}`, { cause });
    this.runId = runId;
    this.taskIdentifier = taskIdentifier;
    this.isFinal = isFinal;
    if (isFinal) Object.defineProperty(this, abortBrand, { value: true });
  }
}

type WireResult = Reply<Operations['retrieveRunResult']>;

/** A result with its output and error decrypted, if they were sealed. Throws a SealedError for an output that cannot be opened. */
export async function openResult(client: ApiClient, wire: WireResult): Promise<WireResult> {
  const codec = () => codecOf(client);
  if (!wire.ok) return { ...wire, error: await openError(codec(), wire.error, `error ${wire.id}`) };
  if (wire.output === undefined) return wire;
  const opened = openText(codec, { text: wire.output, type: wire.outputType }, `output ${wire.id}`);
  if (!(opened instanceof Promise)) return wire;
  const { text, type } = await opened;
  return { ...wire, output: text, outputType: type };
}

/** A result from the API, with its output parsed by its type. */
export function resultOf<TId extends string, TOutput>(wire: WireResult): RunResult<TId, TOutput> {
  const { id } = wire;
  const taskIdentifier = wire.taskIdentifier as TId;
  if (wire.ok) {
    return { ok: true, id, taskIdentifier, output: decode(wire.output ?? null, wire.outputType) as TOutput };
  }
  return { ok: false, id, taskIdentifier, error: subtaskError(taskIdentifier, id, wire.error) };
}

/** Restores the stored error of a run. */
export const subtaskError = (
  taskIdentifier: string,
  run: string,
  stored: Readonly<Record<string, unknown>>,
): SubtaskError => new SubtaskError(taskIdentifier, run, revivedError(stored), stored['isFinal'] === true);
