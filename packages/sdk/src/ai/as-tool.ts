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

/** Options for turning a task into a tool. */
export interface AsToolOptions {
  /** Description for the model. Default: the description of the task. */
  description?: string;
  /** JSON Schema of the payload, which must be an object. Default: the schema of the task. */
  inputSchema?: JsonSchema;
  /** Cancel the run if the model's call is aborted. Default false: the run continues. */
  cancelOnAbort?: boolean;
  /** Options for each trigger, such as tags. */
  trigger?: TriggerOptions;
}

/** A tool in the form that `generateText` and `streamText` of the AI SDK accept. */
export interface TaskTool<TInput, TOutput> {
  readonly description: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a schema's type has a different symbol in each version of the AI SDK
  readonly inputSchema: any;
  readonly execute: (input: TInput, options?: { readonly abortSignal?: AbortSignal }) => Promise<TOutput>;
}

const pollIntervalMs = 250;

/**
 * Creates a tool for the AI SDK (`ai` 5 or later) from a task. When the model calls the tool, a run is triggered, and the run's output is the
 * tool's result. Inside a task the call waits as `triggerAndWait` does; elsewhere it polls the server until the run has ended.
 *
 * If the run does not complete, the tool throws a SubtaskError, which the AI SDK reports to the model. Throws a TypeError for a task without a
 * schema, unless `inputSchema` is given.
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
    // The caller is gone, so a failure cannot be reported.
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
