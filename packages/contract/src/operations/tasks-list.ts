import { z } from 'zod';
import { operation } from '../operation.ts';
import { machinePresets, payloadSchema, retryPolicy, taskManifest } from '../runner/manifest.ts';
import { runStatuses } from '../status.ts';
import { rateLimitResponse } from './rate-limit.ts';
import { date } from './shapes.ts';

/** A task of the current version, with the default options of its runs. */
export const taskInfo = z.object({
  id: z.string(),
  /** The current version, which declares it. */
  version: z.string(),
  description: z.string().optional(),
  filePath: z.string(),
  exportName: z.string().optional(),
  queue: z.object({
    /** `task/<id>` is the task's own queue. */
    name: z.string(),
    /** The limit declared in code; null if it has no limit of its own. */
    concurrencyLimit: z.number().int().nullable(),
    /** The rate limit declared in code. */
    rateLimit: rateLimitResponse.nullable(),
  }),
  retry: retryPolicy.optional(),
  /** Maximum duration of one attempt in seconds. */
  maxDuration: z.number().int().optional(),
  machine: z.enum(machinePresets).optional(),
  isolated: z.boolean(),
  /** Seconds that a run may wait before it expires. */
  ttl: z.number().int().optional(),
  schedule: taskManifest.shape.schedule,
  /** The events that trigger it. */
  on: taskManifest.shape.on,
  /** Labels that a runner must have. */
  requires: z.array(z.string()),
});
export type TaskInfo = z.infer<typeof taskInfo>;

/** Number of latest runs in the statistics. */
export const recentRuns = 100;

/** Statistics about the latest runs of a task: at most 100 runs, regardless of their age. */
export const recentOfTask = z.object({
  /** Number of runs in the statistics. */
  runs: z.number().int(),
  /** When the oldest of them was created; null if there are none. */
  from: date.nullable(),
  completed: z.number().int(),
  /** FAILED, CRASHED, SYSTEM_FAILURE, TIMED_OUT. */
  failed: z.number().int(),
  /** CANCELED and EXPIRED. */
  ended: z.number().int(),
  /** Runs that have not ended. */
  live: z.number().int(),
  /** The share of completed runs among completed and failed ones; null without such runs. */
  successRate: z.number().nullable(),
  /** For completed runs: active milliseconds of all attempts; null without such runs. */
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
});

export const taskDetail = taskInfo.extend({
  /** JSON Schema (draft 2020-12) of the trigger payload; null if there is none. */
  payloadSchema: payloadSchema.nullable(),
  recent: recentOfTask,
  /** Newest first; at most ten. */
  lastRuns: z.array(
    z.object({
      id: z.string(),
      status: z.enum(runStatuses),
      version: z.string().optional(),
      createdAt: date,
      finishedAt: date.optional(),
      durationMs: z.number(),
    }),
  ),
});
export type TaskDetail = z.infer<typeof taskDetail>;

const access = { secretKey: true, action: 'read', on: 'tasks' } as const;

export const listTasks = operation({
  id: 'listTasks',
  method: 'GET',
  path: '/api/v1/tasks',
  tag: 'tasks',
  summary: 'List the tasks of the current version by id',
  access,
  reply: z.object({ data: z.array(taskInfo) }),
});

export const retrieveTask = operation({
  id: 'retrieveTask',
  method: 'GET',
  path: '/api/v1/tasks/:taskId',
  tag: 'tasks',
  summary: 'Retrieve a task of the current version, with statistics of its latest runs',
  access,
  params: z.object({ taskId: z.string().min(1).max(128) }),
  reply: taskDetail,
  errors: [404],
});
