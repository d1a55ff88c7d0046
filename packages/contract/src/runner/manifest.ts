import { z } from 'zod';
import { keyWeight, maxKeyWeights, sharedLimit } from '../operations/fairness.ts';
import { onExceed, rateLimit, triggerRate } from '../operations/rate-limit.ts';
import { maxRunPaths, runPath } from '../operations/run-paths.ts';
import { owner, singletonConflict } from '../operations/shapes.ts';
import { retentionLimits } from '../retention-limits.ts';
import { taskWebhook } from './webhook.ts';

/** The largest integer that the database accepts. */
const maxInteger = 2_147_483_647;

export const machinePresets = [
  'micro',
  'small-1x',
  'small-2x',
  'medium-1x',
  'medium-2x',
  'large-1x',
  'large-2x',
] as const;
export type MachinePreset = (typeof machinePresets)[number];

/** How a failed attempt is retried. Delays are in milliseconds. */
export const retryPolicy = z.object({
  /** Number of attempts, including the first. Default 3. */
  maxAttempts: z.number().int().min(1).max(1_000).optional(),
  /** Each delay is the previous one multiplied by this. Default 2. */
  factor: z.number().min(1).max(100).optional(),
  /** Delay before the second attempt. Default 1,000. */
  minTimeoutInMs: z.number().int().min(0).optional(),
  /** The maximum delay. Default 60,000. */
  maxTimeoutInMs: z.number().int().min(0).optional(),
  /** Multiply each delay by a random factor between 1 and 2. Default true. */
  randomize: z.boolean().optional(),
  /** An attempt that runs out of memory is retried on this machine, unless it already ran on it. */
  outOfMemory: z.object({ machine: z.enum(machinePresets) }).optional(),
});
export type RetryPolicy = z.infer<typeof retryPolicy>;

/** Memory of a machine preset in MiB: the limit of the run's own executor process. */
export const machineMemory: Readonly<Record<MachinePreset, number>> = {
  micro: 256,
  'small-1x': 512,
  'small-2x': 1_024,
  'medium-1x': 2_048,
  'medium-2x': 4_096,
  'large-1x': 8_192,
  'large-2x': 16_384,
};

/** Maximum size of a stored JSON Schema of a payload, in bytes of JSON. */
export const maxPayloadSchemaBytes = 32_768;
/** Maximum total size of all JSON Schemas of a version, in bytes. */
export const maxPayloadSchemasBytes = 2_097_152;

/** A JSON Schema (draft 2020-12) of a task's trigger payload. */
export const payloadSchema = z.record(z.string(), z.unknown());

/** Maximum number of payloads of one run. */
export const maxBatchSize = 1_000;
/** Maximum time that a run collects payloads: one day. */
export const maxBatchWaitMs = 86_400_000;

/** When a run that collects payloads starts: when either limit is reached. */
const taskBatch = z.object({
  maxSize: z.number().int().min(1).max(maxBatchSize),
  /** Counted from its first payload. */
  maxWaitMs: z.number().int().min(1).max(maxBatchWaitMs),
});

const retentionSeconds = z.number().int().min(retentionLimits.min).max(retentionLimits.max);

/** How long ended runs are retained, in seconds, by their status. A missing member: as in the environment. */
export const taskRetention = z.object({
  /** COMPLETED. */
  completed: retentionSeconds.optional(),
  /** FAILED, CRASHED, SYSTEM_FAILURE, TIMED_OUT. */
  failed: retentionSeconds.optional(),
  /** CANCELED, EXPIRED. */
  canceled: retentionSeconds.optional(),
});
export type TaskRetention = z.infer<typeof taskRetention>;

/** A task as it is registered with the server. */
export const taskManifest = z.object({
  id: z.string().min(1).max(128),
  /** Where it is declared, relative to the project, for messages. */
  filePath: z.string(),
  exportName: z.string().optional(),
  description: z.string().optional(),
  /** Who is responsible for it, such as `@payments`. */
  owner: owner.optional(),
  queue: z
    .object({
      name: z.string().min(1).max(128),
      concurrencyLimit: z.number().int().min(0).max(maxInteger).nullish(),
      rateLimit: rateLimit.optional(),
      /** The limit that this queue shares with other queues of the environment. */
      concurrency: sharedLimit.optional(),
      /** How many runs each of its concurrency keys starts per turn. Default 1. */
      weight: keyWeight.optional(),
      /** Weights of individual concurrency keys. */
      keyWeights: z
        .record(z.string().min(1).max(512), keyWeight)
        .refine(
          (weights) => Object.keys(weights).length <= maxKeyWeights,
          `must have up to ${maxKeyWeights} keys`,
        )
        .optional(),
    })
    .optional(),
  /** Each trigger of the task has this singleton, for the whole task unless it has a key. */
  singleton: z.object({ onConflict: singletonConflict }).optional(),
  /** Each trigger of the task has this limit, for the whole task unless it has a key. */
  triggerLimit: z.object({ rate: triggerRate, onExceed: onExceed.optional() }).optional(),
  /** Triggers of the task are collected: one run for several triggers, with the array of their payloads. */
  batch: taskBatch.optional(),
  retry: retryPolicy.optional(),
  /** Maximum duration of one attempt in seconds. */
  maxDuration: z.number().int().min(5).max(maxInteger).optional(),
  machine: z.enum(machinePresets).optional(),
  /** Always runs alone in its executor process. */
  isolated: z.boolean().optional(),
  /** Seconds a run may wait before it expires. */
  ttl: z.number().int().min(0).max(maxInteger).optional(),
  /** How long its ended runs are retained. */
  retention: taskRetention.optional(),
  /** Declared cron of a scheduled task. */
  schedule: z
    .object({
      cron: z.string(),
      timezone: z.string(),
      /** Only in environments of these types, such as `PRODUCTION` or `prod`. */
      environments: z.array(z.string()).optional(),
      window: z.string().optional(),
      missed: z.string().optional(),
      overlap: z.string().optional(),
    })
    .optional(),
  /** A scheduled task, whether or not it declares its cron. */
  scheduled: z.boolean().optional(),
  /** The events that trigger it. */
  on: z.object({ name: z.string(), filter: z.unknown().optional() }).optional(),
  /** It is the handler of a webhook: other services start its runs with signed requests. */
  webhook: taskWebhook.optional(),
  /** A custom grouping key for this task's errors. */
  fingerprint: z.string().optional(),
  /** Paths of metadata and payload by which runs are listed, such as `metadata.customer.id`. */
  findBy: z.array(runPath).max(maxRunPaths).optional(),
  /** Labels that a runner must have to receive runs of a deployed version with this task. */
  requires: z.array(z.string().min(1).max(64)).max(32).optional(),
  /** The schema of the task's payload, if its library can produce one. At most 32 KiB of JSON. */
  payloadSchema: payloadSchema
    .refine((schema) => new TextEncoder().encode(JSON.stringify(schema)).length <= maxPayloadSchemaBytes, {
      message: `must not be larger than ${maxPayloadSchemaBytes} bytes of JSON: omit it, and state the reason in payloadSchemaNote`,
    })
    .optional(),
  /** The human-readable reason why a task with a schema has no JSON Schema. */
  payloadSchemaNote: z.string().max(1_000).optional(),
});
export type TaskManifest = z.infer<typeof taskManifest>;

export const registerVersionBody = z.object({
  /** Digest of the bundle; registering the same content again returns the same version. */
  contentHash: z.string().min(8).max(128),
  tasks: z.array(taskManifest).max(10_000),
  sdkVersion: z.string().optional(),
});
export type RegisterVersion = z.infer<typeof registerVersionBody>;

export const registeredVersion = z.object({
  /** Day and counter, such as `20261121.3`. */
  version: z.string(),
  /** False if this content was registered or deployed before. */
  isNew: z.boolean(),
  /** Whether new runs start on it. */
  isCurrent: z.boolean(),
});
export type RegisteredVersion = z.infer<typeof registeredVersion>;
