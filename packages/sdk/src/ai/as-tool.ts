import { currentClient } from '../client/current-client.ts';
import { currentRun } from '../run-scope.ts';
import { cancelThrough } from '../runs/cancel.ts';
import { poll } from '../runs/poll.ts';
import { openResult, resultOf, type RunResult } from '../task/run-result.ts';
import { triggerThrough } from '../task/trigger.ts';
import { triggerAndWaitThrough } from '../task/trigger-and-wait.ts';
import type { TriggerOptions } from '../task/trigger-options.ts';
import { taskBrand, type Task } from '../task/types.ts';
import { toolSchema, type JsonSchema } from './schema.ts';

/** How a task becomes a tool. */
export interface AsToolOptions {
  /** What the model is told of it. Default: the description of the task. */
  description?: string;
  /** JSON Schema of the payload, an object. Default: the schema of the task. */
  inputSchema?: JsonSchema;
  /** Cancel the run when the model's call is aborted. Default false: the run goes on. */
  cancelOnAbort?: boolean;
  /** Options of each trigger, such as tags. */
  trigger?: TriggerOptions;
}

/** A tool as `generateText` and `streamText` of the AI SDK take it. */
export interface TaskTool<TInput, TOutput> {
  readonly description: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a schema's type has a symbol of its own in each version of the AI SDK
  readonly inputSchema: any;
  readonly execute: (input: TInput, options?: { readonly abortSignal?: AbortSignal }) => Promise<TOutput>;
}

const pollIntervalMs = 250;

/**
 * Makes a tool for the AI SDK (`ai` 5 or later) out of a task: when the model calls it, a run is triggered, and its output is the result of the
 * tool. Inside a task the call waits as `triggerAndWait` does, elsewhere it asks the server until the run is over.
 *
 * The tool throws a SubtaskError if the run does not complete, which the AI SDK tells the model. Throws a TypeError for a task without a schema,
 * unless `inputSchema` is given.
 *
 * @example
 * import { asTool } from '@millrace/sdk/ai';
 * const { text } = await generateText({ model, prompt, tools: { refund: asTool(refund) }, stopWhen: stepCountIs(5) });
 */
export function asTool<TId extends string, TInput, TOutput>(
  task: Task<TId, TInput, TOutput>,
  { description, inputSchema, cancelOnAbort = false, trigger = {} }: AsToolOptions = {},
): TaskTool<TInput, TOutput> {
  const { id } = task;
  return {
    description: description ?? task.description ?? `Runs the task ${id}.`,
    inputSchema: toolSchema(id, task[taskBrand].schema, inputSchema),
    async execute(input, { abortSignal } = {}) {
      abortSignal?.throwIfAborted();
      const result = await execute<TId, TOutput>(id, input, trigger, cancelOnAbort, abortSignal);
      if (result.ok) return result.output;
      throw result.error;
    },
  };
}

async function execute<TId extends string, TOutput>(
  id: TId,
  input: unknown,
  options: TriggerOptions,
  cancelOnAbort: boolean,
  signal: AbortSignal | undefined,
): Promise<RunResult<TId, TOutput>> {
  const client = currentClient();
  let stop = (): void => {};
  const onTriggered = (run: string): void => {
    if (!cancelOnAbort || !signal) return;
    // The caller has gone, so nobody is left to tell if that fails.
    const cancel = () => void cancelThrough(client, run).catch(() => {});
    if (signal.aborted) return cancel();
    signal.addEventListener('abort', cancel, { once: true });
    stop = () => signal.removeEventListener('abort', cancel);
  };
  try {
    if (client.settings.isAmbient && currentRun()?.waits)
      return await triggerAndWaitThrough<TId, TOutput>(client, id, input, options, onTriggered);
    const { id: run } = await triggerThrough(client, id, input, options);
    onTriggered(run);
    await poll(run, { pollIntervalMs, ...(signal && { signal }) });
    return resultOf(
      await openResult(client, await client.call('retrieveRunResult', { params: { runId: run } })),
    );
  } finally {
    stop();
  }
}
