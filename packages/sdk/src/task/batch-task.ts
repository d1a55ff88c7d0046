import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { EventSubscription } from '../events/subscription.ts';
import type { Hooks } from '../hooks/types.ts';
import type { TaskBatchOptions } from './batch.ts';
import type { RunArguments, TaskSettings, Uninferred } from './definition.ts';

/** A task whose triggers are collected: one run gets the payloads of many. */
export interface BatchTaskOptions<TId extends string, TInput, TOutput>
  extends TaskSettings<TId>, Hooks<Uninferred<TInput>[], Uninferred<Awaited<TOutput>>> {
  batch: TaskBatchOptions;
  schema?: undefined;
  singleton?: undefined;
  /** The events that start it beside triggers: each adds its payload. */
  on?: EventSubscription;
  /** The work, with the payloads of all triggers in their order. */
  run: (payloads: TInput[], args: RunArguments) => TOutput;
}

/** The same, where each payload is checked before `run`. */
export interface BatchSchemaTaskOptions<TId extends string, TSchema extends StandardSchemaV1, TOutput>
  extends TaskSettings<TId>, Hooks<StandardSchemaV1.InferOutput<TSchema>[], Uninferred<Awaited<TOutput>>> {
  batch: TaskBatchOptions;
  /** Of one payload: any Standard Schema. One that does not fit fails the run at once, without a retry. */
  schema: TSchema;
  singleton?: undefined;
  on?: EventSubscription;
  /** The work, with the payloads as parsed by the schema. */
  run: (payloads: StandardSchemaV1.InferOutput<TSchema>[], args: RunArguments) => TOutput;
}
