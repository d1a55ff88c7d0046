import { z } from 'zod';
import { operation } from '../operation.ts';
import { machinePresets, payloadSchema, retryPolicy, taskManifest } from '../runner/manifest.ts';
import { runStatuses } from '../status.ts';
import { shownRateLimit } from './rate-limit.ts';
import { date } from './shapes.ts';

/** A task of the current version, with what its runs get if their trigger does not say otherwise. */
export const taskInfo = z.object({
  id: z.string(),
  /** The current version, which declares it. */
  version: z.string(),
  description: z.string().optional(),
  filePath: z.string(),
  exportName: z.string().optional(),
  queue: z.object({
    /** `task/<id>` is its own. */
    name: z.string(),
    /** As the code declares it; null is no limit of its own. */
    concurrencyLimit: z.number().int().nullable(),
    /** How many runs may start in a period, as the code declares it. */
    rateLimit: shownRateLimit.nullable(),
  }),
  retry: retryPolicy.optional(),
  /** Seconds of one attempt. */
  maxDuration: z.number().int().optional(),
  machine: z.enum(machinePresets).optional(),
  isolated: z.boolean(),
  /** Seconds that a run may wait before it expires. */
  ttl: z.number().int().optional(),
  schedule: taskManifest.shape.schedule,
  /** The events that start it. */
  on: taskManifest.shape.on,
  /** Labels that a runner must have. */
  requires: z.array(z.string()),
});
export type TaskInfo = z.infer<typeof taskInfo>;

/** How many of the latest runs are looked at. */
export const recentRuns = 100;

/** What the latest runs of a task were like: at most 100 runs, whenever they were created. */
export const recentOfTask = z.object({
  /** How many runs were looked at. */
  runs: z.number().int(),
  /** When the first of them was created; null if there are none. */
  from: date.nullable(),
  completed: z.number().int(),
  /** FAILED, CRASHED, SYSTEM_FAILURE, TIMED_OUT. */
  failed: z.number().int(),
  /** CANCELED and EXPIRED. */
  ended: z.number().int(),
  /** Not over. */
  live: z.number().int(),
  /** Completed ones of those that completed or failed; null without such runs. */
  successRate: z.number().nullable(),
  /** Of completed runs: active milliseconds of all attempts; null without such runs. */
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
});

export const taskDetail = taskInfo.extend({
  /** JSON Schema (draft 2020-12) of what it is triggered with; null without one. */
  payloadSchema: payloadSchema.nullable(),
  recent: recentOfTask,
  /** The newest first; at most ten. */
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
  summary: 'Retrieve a task of the current version, with what its latest runs were like',
  access,
  params: z.object({ taskId: z.string().min(1).max(128) }),
  reply: taskDetail,
  errors: [404],
});
