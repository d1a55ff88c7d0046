import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { BatchSchemaTaskOptions, BatchTaskOptions } from './batch-task.ts';
import { currentClient } from '../client/current-client.ts';
import type {
  EventTaskOptions,
  QueueOptions,
  SchemaTaskOptions,
  TaskDefinition,
  TaskOptions,
} from './definition.ts';
import { triggerBatchAndWait } from '../batch/trigger-and-wait.ts';
import { ResultPromise } from '../wait/result-promise.ts';
import { batchTrigger } from './batch-trigger.ts';
import { noteDeclaredTask } from './declared.ts';
import { triggerThrough } from './trigger.ts';
import { triggerAndWaitThrough } from './trigger-and-wait.ts';
import { taskBrand, type AnyTask, type Task, type TriggerArguments } from './types.ts';

/**
 * Declares a task. Export the result from a file in the project's task folder; the runner finds it there.
 *
 * The types of payload and output are inferred from `run`, or from `schema` if there is one: `trigger` then accepts the schema's input, and
 * `run` receives its output.
 *
 * @example
 * export const resizeImage = task({
 *   id: 'resize-image',
 *   retry: { maxAttempts: 5 },
 *   queue: { concurrencyLimit: 10 },
 *   run: async (payload: { url: string }, { ctx, signal }) => {
 *     const image = await fetch(payload.url, { signal });
 *     return { bytes: (await image.arrayBuffer()).byteLength, attempt: ctx.attempt.number };
 *   },
 * });
 *
 * With `batch`, one run gets the payloads of many triggers, as an array.
 *
 * @example
 * export const welcome = task({
 *   id: 'welcome',
 *   schema: z.object({ email: z.email() }),
 *   run: async ({ email }) => send(email),
 * });
 */
export function task<const TId extends string, TSchema extends StandardSchemaV1, TOutput>(
  options: BatchSchemaTaskOptions<TId, TSchema, TOutput>,
): Task<TId, StandardSchemaV1.InferInput<TSchema>, Awaited<TOutput>>;
export function task<const TId extends string, TInput, TOutput = unknown>(
  options: BatchTaskOptions<TId, TInput, TOutput>,
): Task<TId, TInput, Awaited<TOutput>>;
export function task<const TId extends string, TSchema extends StandardSchemaV1, TOutput>(
  options: SchemaTaskOptions<TId, TSchema, TOutput>,
): Task<TId, StandardSchemaV1.InferInput<TSchema>, Awaited<TOutput>>;
export function task<const TId extends string, TSchema extends StandardSchemaV1, TOutput>(
  options: EventTaskOptions<TId, TSchema, TOutput>,
): Task<TId, StandardSchemaV1.InferInput<TSchema>, Awaited<TOutput>>;
export function task<const TId extends string, TInput = void, TOutput = unknown>(
  options: TaskOptions<TId, TInput, TOutput>,
): Task<TId, TInput, Awaited<TOutput>>;
export function task(declared: object): AnyTask {
  const options = declared as TaskDefinition;
  const { id, description } = options;
  noteDeclaredTask(options);
  return {
    id,
    description,
    trigger: async (...[payload, triggerOptions]: TriggerArguments<unknown>) =>
      triggerThrough(currentClient(), id, payload, triggerOptions),
    triggerAndWait: (...[payload, triggerOptions]: TriggerArguments<unknown>) =>
      ResultPromise.of(triggerAndWaitThrough(currentClient(), id, payload, triggerOptions)),
    batchTriggerAndWait: async (items, batchOptions) =>
      triggerBatchAndWait(
        currentClient(),
        items.map((item) => ({ task: id, payload: item.payload as unknown, options: item.options })),
        batchOptions,
      ),
    batchTrigger: (items, batchOptions) => batchTrigger(id, items, batchOptions),
    [taskBrand]: { ...options, schema: options.schema ?? options.on?.schema },
  };
}

/**
 * Declares a queue that several tasks share.
 *
 * @example
 * export const mail = queue({ name: 'mail', concurrencyLimit: 3, rateLimit: { limit: 100, period: '1m' } });
 * export const welcome = task({ id: 'welcome', queue: mail, run: async () => {} });
 */
export const queue = (options: QueueOptions & { name: string }): QueueOptions & { name: string } => options;
