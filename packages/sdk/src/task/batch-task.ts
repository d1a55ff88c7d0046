import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { EventSubscription } from '../events/subscription.ts';
import type { Hooks } from '../hooks/types.ts';
import type { TaskBatchOptions } from './batch.ts';
import type { RunArguments, TaskSettings, Uninferred } from './definition.ts';

/** A task whose triggers are collected: one run receives the payloads of several triggers. */
export interface BatchTaskOptions<TId extends string, TInput, TOutput>
  extends TaskSettings<TId>, Hooks<Uninferred<TInput>[], Uninferred<Awaited<TOutput>>> {
  batch: TaskBatchOptions;
  schema?: undefined;
  singleton?: undefined;
  /** Events that trigger it, in addition to explicit triggers: each adds its payload. */
  on?: EventSubscription;
  /** The task's function, with the payloads of all triggers in order. */
  run: (payloads: TInput[], args: RunArguments) => TOutput;
}

/** The same, with a schema that validates each payload before `run`. */
export interface BatchSchemaTaskOptions<TId extends string, TSchema extends StandardSchemaV1, TOutput>
  extends TaskSettings<TId>, Hooks<StandardSchemaV1.InferOutput<TSchema>[], Uninferred<Awaited<TOutput>>> {
  batch: TaskBatchOptions;
  /** Schema of a single payload: any Standard Schema. An invalid payload fails the run immediately, without a retry. */
  schema: TSchema;
  singleton?: undefined;
  on?: EventSubscription;
  /** The task's function, with the payloads as parsed by the schema. */
  run: (payloads: StandardSchemaV1.InferOutput<TSchema>[], args: RunArguments) => TOutput;
}
