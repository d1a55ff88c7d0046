import type { MachinePreset } from '@millrace/contract/runner';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { TaskRetryOptions } from '../retry/backoff.ts';
import type { EventSubscription } from '../events/subscription.ts';
import type { DeclaredCron } from '../schedules/schedule.ts';
import type { Hooks } from '../hooks/types.ts';
import type { WebhookVerification } from '../webhooks/verification.ts';
import type { Context } from './context.ts';
import type { TaskBatchOptions } from './batch.ts';
import type { RateLimitOptions, TriggerRate } from './rate-limit.ts';

/** Prevents inference of a type parameter, like `NoInfer` of TypeScript 5.4. */
export type Uninferred<T> = [T][T extends unknown ? 0 : never];

/** The second parameter of `run`. */
export interface RunArguments {
  readonly ctx: Context;
  /** Aborted when the run is canceled or has exceeded its `maxDuration`. Pass it to `fetch` and similar functions. */
  readonly signal: AbortSignal;
}

/** A queue: its runs share a concurrency limit and a rate limit. */
export interface QueueOptions {
  /** 1 to 128 characters. Tasks with the same queue name share the queue. Default `task/<id of the task>`. */
  name?: string;
  /** Maximum number of its runs that execute concurrently; 0 stops it. Default: only the environment's limit applies. */
  concurrencyLimit?: number;
  /** Maximum number of its runs that may start in a period; the rest wait. Default: no limit. */
  rateLimit?: RateLimitOptions;
  /**
   * A concurrency limit shared with other queues: at most `limit` of their runs execute concurrently in total, across all concurrency keys.
   * Queues with the same `name` (1 to 128 characters) share it; if several limits are declared, the lowest applies. Default: none.
   */
  concurrency?: { name: string; limit: number };
  /**
   * When more runs are waiting than may start, concurrency keys take turns. This is the number of runs that each key starts per turn: 1 to
   * 100, default 1. A key in a queue with weight 3 gets three times the share of one with weight 1.
   */
  weight?: number;
  /** Weights of individual concurrency keys, such as `{ 'customer-42': 5 }`. At most 1,000; set others with `queues.setKeyWeight`. */
  keyWeights?: Record<string, number>;
}

/** How long ended runs are retained, by their status: seconds, or a duration such as `7d`. */
export interface RetentionByStatus {
  completed?: number | string;
  failed?: number | string;
  canceled?: number | string;
}

/** Settings common to all tasks, with or without a schema. */
export interface TaskSettings<TId extends string> {
  /** 1 to 128 characters, unique in the project. Triggers refer to it, so it should not change. */
  id: TId;
  /** A description for people and external tools. */
  description?: string;
  /**
   * Who is responsible for it: a team such as `@payments` or an email address, with 1 to 128 characters and without spaces and commas. Its errors
   * belong to this owner unless they are assigned. Default: the first owner of its file in the CODEOWNERS file of the repository.
   */
  owner?: string;
  /** How failed attempts are retried. */
  retry?: TaskRetryOptions;
  /** The queue of its runs. Default: a separate queue without a limit. */
  queue?: QueueOptions;
  /** Same as `queue.rateLimit`, for a task with its own queue. */
  rateLimit?: RateLimitOptions;
  /** Same as `queue.concurrency`, for a task with its own queue: a limit that several tasks share. */
  concurrency?: { name: string; limit: number };
  /**
   * Allows at most one executing and one waiting run: for the whole task, or for each `singleton.key` of its triggers. `onConflict` defines the
   * effect of a trigger while a run exists: see the trigger option. Default: any number of runs.
   */
  singleton?: { onConflict: 'skip' | 'queue' | 'replace' };
  /**
   * Maximum number of triggers accepted in a period: for the whole task, or for each `triggerLimit.key` of its triggers. Triggers above it
   * are rejected or dropped: see the trigger option. Unlike with `rateLimit`, no runs wait. Default: no limit.
   */
  triggerLimit?: { rate: TriggerRate; onExceed?: 'refuse' | 'drop' };
  /** Maximum duration of one attempt in seconds, at least 5; an attempt that exceeds it is TIMED_OUT. Default: no limit. */
  maxDuration?: number;
  /** Machine preset, which gives each run its own process with this memory. Default: runs share a process. */
  machine?: MachinePreset;
  /** How long a run may wait before it expires: seconds, or a duration such as `1h30m`. Default: no limit. */
  ttl?: number | string;
  /**
   * How long its ended runs are retained: seconds, or a duration such as `7d`; at least an hour. By status: `completed`;
   * `failed` (FAILED, CRASHED, SYSTEM_FAILURE, TIMED_OUT); `canceled` (CANCELED, EXPIRED). Default: the retention of the environment.
   *
   * @example
   * retention: { completed: '1d', failed: '90d' }
   */
  retention?: number | string | RetentionByStatus;
  /** Give each run its own process. For code that blocks, leaks memory or modifies the process. Default false. */
  isolated?: boolean;
  /**
   * Requirements on the machine, such as `ffmpeg` or `gpu`: a runner without all of these labels (`millrace work --label`) receives no runs of
   * a deployed version with this task. At most 32 labels of 1 to 64 characters, without spaces and commas. `millrace dev` ignores them.
   */
  requires?: string[];
  /**
   * Metadata and payload paths by which `runs.list` finds runs, such as `metadata.customer.id` or `payload.order`. They are declared for the
   * environment when the version becomes current, and remain declared until removed. At most 20.
   */
  findBy?: string[];
  /** Group all errors of this task under this custom key, instead of by error. */
  fingerprint?: string;
}

/** A task whose payload type is that of `run`. */
export interface TaskOptions<TId extends string, TInput, TOutput>
  extends TaskSettings<TId>, Hooks<Uninferred<TInput>, Uninferred<Awaited<TOutput>>> {
  schema?: undefined;
  batch?: undefined;
  /** Events that trigger it, in addition to explicit triggers. */
  on?: EventSubscription;
  /** The task's function. Its return value is the run's output; if it throws, the attempt fails. */
  run: (payload: TInput, args: RunArguments) => TOutput;
}

/** A task triggered by events whose payload is validated before `run`. */
export interface EventTaskOptions<TId extends string, TSchema extends StandardSchemaV1, TOutput>
  extends TaskSettings<TId>, Hooks<StandardSchemaV1.InferOutput<TSchema>, Uninferred<Awaited<TOutput>>> {
  schema?: undefined;
  batch?: undefined;
  /** Events that trigger it, in addition to explicit triggers. */
  on: EventSubscription<TSchema> & { readonly schema: TSchema };
  /** The task's function, with the payload as parsed by the event's schema. */
  run: (payload: StandardSchemaV1.InferOutput<TSchema>, args: RunArguments) => TOutput;
}

/** A task whose payload is validated before `run`. */
export interface SchemaTaskOptions<TId extends string, TSchema extends StandardSchemaV1, TOutput>
  extends TaskSettings<TId>, Hooks<StandardSchemaV1.InferOutput<TSchema>, Uninferred<Awaited<TOutput>>> {
  /** Any Standard Schema (zod, valibot, arktype …). An invalid payload fails the run immediately, without a retry. */
  schema: TSchema;
  batch?: undefined;
  /** Events that trigger it, in addition to explicit triggers. */
  on?: EventSubscription;
  /** The task's function, with the payload as parsed by the schema. */
  run: (payload: StandardSchemaV1.InferOutput<TSchema>, args: RunArguments) => TOutput;
}

/** A declared task for the executor, with its types erased. */
export interface TaskDefinition extends TaskSettings<string>, Hooks {
  readonly schema?: StandardSchemaV1 | undefined;
  readonly batch?: TaskBatchOptions | undefined;
  readonly on?: EventSubscription<StandardSchemaV1 | undefined> | undefined;
  readonly run: (payload: unknown, args: RunArguments) => unknown;
  /** How the requests of its webhook are verified. */
  readonly webhook?: WebhookVerification | undefined;
  /** Whether schedules may run it. */
  readonly scheduled?: boolean;
  readonly schedule?: DeclaredCron | undefined;
  /** Whether its output is serialized as in the published SDK, which drops values that our own tasks may not return. */
  readonly lossyOutput?: boolean | undefined;
}
