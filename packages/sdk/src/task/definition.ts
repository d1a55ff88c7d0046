import type { MachinePreset } from '@millrace/contract/runner';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { TaskRetryOptions } from '../retry/backoff.ts';
import type { EventSubscription } from '../events/subscription.ts';
import type { DeclaredCron } from '../schedules/schedule.ts';
import type { Hooks } from '../hooks/types.ts';
import type { Context } from './context.ts';
import type { TaskBatchOptions } from './batch.ts';
import type { RateLimitOptions, TriggerRate } from './rate-limit.ts';

/** Prevents inference of a type parameter, like `NoInfer` of TypeScript 5.4. */
export type Uninferred<T> = [T][T extends unknown ? 0 : never];

/** The second parameter of `run`. */
export interface RunArguments {
  readonly ctx: Context;
  /** Aborted when the run is cancelled or has taken longer than its `maxDuration`. Hand it to `fetch` and the like. */
  readonly signal: AbortSignal;
}

/** A queue: runs in it share limits of how many execute at once, and of how many start in a period. */
export interface QueueOptions {
  /** 1 to 128 characters. Tasks that name the same queue share it. Default `task/<id of the task>`. */
  name?: string;
  /** How many of its runs execute at once; 0 stops it. Default: no limit of its own, only the environment's. */
  concurrencyLimit?: number;
  /** How many of its runs may start in a period; the others wait. Default: no limit. */
  rateLimit?: RateLimitOptions;
  /**
   * A limit that it shares with other queues: no more than `limit` of their runs execute at once, together, whatever their concurrency keys are.
   * Queues that give the same `name` (1 to 128 characters) share it; of several declared limits, the lowest applies. Default: none.
   */
  concurrency?: { name: string; limit: number };
  /**
   * Where more runs wait than may start, concurrency keys take turns. This many runs of each key start in its turn: 1 to 100, default 1. A key
   * of a queue with weight 3 gets three times what one with weight 1 gets.
   */
  weight?: number;
  /** Weights of single concurrency keys, such as `{ 'customer-42': 5 }`. At most 1,000; others are set with `queues.setKeyWeight`. */
  keyWeights?: Record<string, number>;
}

/** The settings that every task has, with or without a schema. */
export interface TaskSettings<TId extends string> {
  /** 1 to 128 characters, unique in the project. Runs are triggered by it, so it should not change. */
  id: TId;
  /** For people who look at the task from outside its code. */
  description?: string;
  /** What happens when an attempt throws. */
  retry?: TaskRetryOptions;
  /** The queue of its runs. Default: one of its own, without a limit. */
  queue?: QueueOptions;
  /** The same as `queue.rateLimit`, for a task with a queue of its own. */
  rateLimit?: RateLimitOptions;
  /** The same as `queue.concurrency`, for a task with a queue of its own: a limit that several tasks share. */
  concurrency?: { name: string; limit: number };
  /**
   * At most one of its runs executes at a time, and at most one waits: one of the whole task, or of each `singleton.key` of its triggers.
   * `onConflict` says what a trigger does while there is one: see the trigger option. Default: any number of runs.
   */
  singleton?: { onConflict: 'skip' | 'queue' | 'replace' };
  /**
   * How many triggers are accepted in a period: of the whole task, or for each `triggerLimit.key` of its triggers. Above it they are refused, or
   * dropped: see the trigger option. Unlike `rateLimit`, nothing waits. Default: no limit.
   */
  triggerLimit?: { rate: TriggerRate; onExceed?: 'refuse' | 'drop' };
  /** Seconds that one attempt may take, at least 5; then it is TIMED_OUT. Default: no limit. */
  maxDuration?: number;
  /** Memory of the process that a run gets for itself. Default: runs share a process. */
  machine?: MachinePreset;
  /** How long a run may wait before it expires: seconds, or a duration such as `1h30m`. Default: for ever. */
  ttl?: number | string;
  /** Give each run a process for itself: for code that blocks, leaks or changes the process. Default false. */
  isolated?: boolean;
  /**
   * What a machine must have, such as `ffmpeg` or `gpu`: runners without one of these labels (`millrace work --label`) are given no runs of a
   * deployed version with this task. At most 32 labels of 1 to 64 characters, without spaces and commas. `millrace dev` ignores it.
   */
  requires?: string[];
  /**
   * Paths of metadata and payload by which `runs.list` finds runs, such as `metadata.customer.id` or `payload.order`. They are declared for
   * the environment when the version becomes current, and stay declared until they are removed. At most 20.
   */
  findBy?: string[];
  /** Group all errors of this task under this key of your own, instead of by error. */
  fingerprint?: string;
}

/** A task whose payload is what `run` takes. */
export interface TaskOptions<TId extends string, TInput, TOutput>
  extends TaskSettings<TId>, Hooks<Uninferred<TInput>, Uninferred<Awaited<TOutput>>> {
  schema?: undefined;
  batch?: undefined;
  /** The events that start it beside triggers. */
  on?: EventSubscription;
  /** The work. What it returns is the run's output; when it throws, the attempt has failed. */
  run: (payload: TInput, args: RunArguments) => TOutput;
}

/** A task that events start whose payload is checked before `run`. */
export interface EventTaskOptions<TId extends string, TSchema extends StandardSchemaV1, TOutput>
  extends TaskSettings<TId>, Hooks<StandardSchemaV1.InferOutput<TSchema>, Uninferred<Awaited<TOutput>>> {
  schema?: undefined;
  batch?: undefined;
  /** The events that start it beside triggers. */
  on: EventSubscription<TSchema> & { readonly schema: TSchema };
  /** The work, with the payload as parsed by the event's schema. */
  run: (payload: StandardSchemaV1.InferOutput<TSchema>, args: RunArguments) => TOutput;
}

/** A task whose payload is checked before `run`. */
export interface SchemaTaskOptions<TId extends string, TSchema extends StandardSchemaV1, TOutput>
  extends TaskSettings<TId>, Hooks<StandardSchemaV1.InferOutput<TSchema>, Uninferred<Awaited<TOutput>>> {
  /** Any Standard Schema (zod, valibot, arktype …). A payload that does not fit fails the run at once, without a retry. */
  schema: TSchema;
  batch?: undefined;
  /** The events that start it beside triggers. */
  on?: EventSubscription;
  /** The work, with the payload as parsed by the schema. */
  run: (payload: StandardSchemaV1.InferOutput<TSchema>, args: RunArguments) => TOutput;
}

/** A declared task as the executor sees it, types erased. */
export interface TaskDefinition extends TaskSettings<string>, Hooks {
  readonly schema?: StandardSchemaV1 | undefined;
  readonly batch?: TaskBatchOptions | undefined;
  readonly on?: EventSubscription<StandardSchemaV1 | undefined> | undefined;
  readonly run: (payload: unknown, args: RunArguments) => unknown;
  /** Schedules may run it. */
  readonly scheduled?: boolean;
  readonly schedule?: DeclaredCron | undefined;
  /** Its output is written as the published SDK writes it, which drops values that our own tasks may not return. */
  readonly lossyOutput?: boolean | undefined;
}
