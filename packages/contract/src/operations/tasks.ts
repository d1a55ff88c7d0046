import { z } from 'zod';
import { maxJsonEscapes, maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { machinePresets } from '../runner/manifest.ts';
import { onExceed, triggerRate } from './rate-limit.ts';
import {
  fence,
  idempotencyKey,
  keyOf,
  optionsResponse,
  singletonConflict,
  tag,
  traceparent,
  waitKey,
} from './shapes.ts';

/** Maximum size of a trigger body in bytes. */
export const triggerBodyLimit = 3_145_728;

const tags = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? [value] : value))
  .pipe(z.array(tag));

export const triggerOptions = z.object({
  /**
   * The format of `payload`: `application/json` (default), `application/super+json` or `text/plain`. With `application/store` it is the name of
   * a packet.
   */
  payloadType: z.string().optional(),
  queue: z.object({ name: z.string() }).optional(),
  concurrencyKey: z
    .union([keyOf(512, 'a concurrency key has at most 512 characters'), z.number()])
    .transform(String)
    .optional(),
  /** A date, or a duration such as `1h30m`. */
  delay: z.union([z.string(), z.date()]).optional(),
  /** Seconds, or a duration such as `10m`; 0 means none. */
  ttl: z.union([z.string(), z.number().int().min(0)]).optional(),
  idempotencyKey: idempotencyKey.optional(),
  idempotencyKeyTTL: z.string().optional(),
  idempotencyKeyOptions: z
    .object({ key: z.string(), scope: z.enum(['run', 'attempt', 'global']) })
    .optional(),
  tags: tags.optional(),
  /** Number of attempts, including the first: 1 disables retries. */
  maxAttempts: z.number().int().min(1).max(1_000).optional(),
  /** Maximum duration of one attempt in seconds; at least 5. */
  maxDuration: z.number().optional(),
  machine: z.enum(machinePresets).optional(),
  /** Priority in its queue, in seconds. */
  priority: z.number().optional(),
  /** An object, or the JSON text of one. */
  metadata: z.unknown().optional(),
  metadataType: z.string().optional(),
  ...optionsResponse,
  test: z.boolean().optional(),
  lockToVersion: z.string().optional(),
  /**
   * Run on the deployment with this external id, and wait for it if it does not exist yet. Surrounding whitespace is trimmed. An empty
   * value counts as absent, as does a value together with `lockToVersion`.
   */
  externalDeploymentId: keyOf(128).optional(),
  /** Postpones the run for as long as triggers with this key keep arriving. */
  debounce: z
    .object({
      key: keyOf(512).min(1),
      /** How long after the last trigger it starts: a duration of at least 1s. */
      delay: z.string(),
      /** Which trigger's data the run uses: the first (`leading`, the default) or the last one. */
      mode: z.enum(['leading', 'trailing']).optional(),
      /** The latest start, as a duration after the first trigger; longer than `delay`. */
      maxDelay: z.string().optional(),
    })
    .optional(),
  /**
   * Allows at most one executing and one waiting run of the task with this key. While such a run exists, the trigger returns it (`skip`,
   * the default), returns the run that waits for it to end (`queue`), or cancels it (`replace`). A task may declare it for all its
   * triggers.
   */
  singleton: z
    .object({
      /** Default: one for the whole task. */
      key: keyOf(512).min(1).optional(),
      onConflict: singletonConflict.optional(),
    })
    .optional(),
  /**
   * Accepts no more triggers of the task and key than the rate allows. Above the rate, triggers are rejected (429) or dropped, in which
   * case the response has no id but has `isDropped`. A task may declare it for all its triggers. Batch items and triggers that do not come
   * from the API are not counted.
   */
  triggerLimit: z
    .object({
      /** Default: one for the whole task. */
      key: keyOf(512).min(1).optional(),
      /** Default: that of the task. */
      rate: triggerRate.optional(),
      onExceed: onExceed.optional(),
    })
    .optional(),
  /** For a task with `batch`, only triggers with the same key share a run. Default: one batch for the whole task. */
  batchKey: keyOf(512).min(1).optional(),
  /**
   * The triggering run: a caller without write permission for it is rejected (403). Canceling it also cancels this run, and a canceled run
   * cannot trigger further runs.
   */
  parentRunId: z.string().optional(),
  parentFence: fence,
  /** The trace to which the run belongs. Takes precedence over the header of this name. */
  traceparent: traceparent.optional(),
  waitKey,
});
export type TriggerOptions = z.input<typeof triggerOptions>;

export const triggerBody = z.object({
  payload: z.unknown().optional(),
  context: z.unknown().optional(),
  options: triggerOptions.optional(),
});

export const triggerReply = z.object({
  id: z.string(),
  /** True only when an idempotency key or a singleton key returned an existing run. */
  isCached: z.boolean(),
  /** True if the trigger limit dropped the trigger, in which case there is no run and `id` is empty. */
  isDropped: z.boolean().optional(),
});

export const triggerTask = operation({
  id: 'triggerTask',
  method: 'POST',
  path: '/api/v1/tasks/:taskId/trigger',
  tag: 'tasks',
  summary: 'Trigger a run of a task',
  access: {
    secretKey: true,
    publicToken: true,
    action: 'trigger',
    on: 'tasks',
    objects: true,
    oneTime: true,
  },
  params: z.object({ taskId: z.string().min(1).max(128) }),
  body: triggerBody,
  bodyLimit: triggerBodyLimit,
  maxMembers: maxJsonMembers,
  reply: triggerReply,
  storesRequestKey: true,
  errors: [409, 413, 422, 429],
});

export const resetIdempotencyKey = operation({
  id: 'resetIdempotencyKey',
  method: 'POST',
  path: '/api/v1/idempotencyKeys/:key/reset',
  tag: 'tasks',
  summary: "Reset an idempotency key of a task's runs: the next trigger with it creates a run",
  access: { secretKey: true, publicToken: true, action: 'write', on: 'runs' },
  params: z.object({ key: z.string().min(1).max(2_048) }),
  body: z.object({ taskIdentifier: z.string().min(1).max(128) }),
  reply: z.object({ id: z.string() }),
  errors: [404],
});

/** Maximum number of triggers in one request. */
export const triggerManyLimit = 500;

/**
 * Several independent triggers in one request, which the SDK sends for calls in the same tick. It is not a batch: each item succeeds or fails
 * on its own.
 */
export const triggerMany = operation({
  id: 'triggerMany',
  method: 'POST',
  path: '/api/v1/tasks/trigger-many',
  tag: 'tasks',
  summary: 'Trigger several independent runs with one request',
  access: {
    secretKey: true,
    publicToken: true,
    action: 'trigger',
    on: 'tasks',
    objects: true,
    oneTime: true,
  },
  body: z.object({
    items: z
      .array(triggerBody.extend({ task: z.string().min(1).max(128) }))
      .min(1)
      .max(triggerManyLimit),
  }),
  storesRequestKey: true,
  bodyLimit: triggerBodyLimit,
  maxMembers: 4 * maxJsonMembers,
  maxEscapes: maxJsonEscapes,
  reply: z.object({
    /** In the order of the request. */
    results: z.array(
      z.union([
        triggerReply.extend({
          /** A token that can read the run; issued to runs, which have no key to sign one with. */
          publicAccessToken: z.string().optional(),
        }),
        z.object({
          status: z.number().int(),
          /** One of `errorCodes`. */
          code: z.string(),
          error: z.string(),
        }),
      ]),
    ),
  }),
  errors: [413, 429],
});
