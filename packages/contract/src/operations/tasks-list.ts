import { z } from 'zod';
import { operation } from '../operation.ts';
import { machinePresets, payloadSchema, retryPolicy, taskManifest } from '../runner/manifest.ts';
import { runStatuses } from '../status.ts';
import { rateLimitResponse } from './rate-limit.ts';
import { commaList, date } from './shapes.ts';

/** A task of the current version, with the default options of its runs. */
export const taskInfo = z.object({
  id: z.string(),
  /** The current version, which declares it. */
  version: z.string(),
  description: z.string().optional(),
  /** Who is responsible for it: declared in the task, or from a CODEOWNERS file. */
  owner: z.string().optional(),
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

/** `name` in ascending order, `success` with the lowest rate first, the others with the highest value first. Missing values come last. */
export const taskSorts = ['name', 'runs', 'failed', 'success', 'p50', 'p95', 'waiting', 'oldest'] as const;
export type TaskSort = (typeof taskSorts)[number];

/** A task with its figures of the last 24 hours, in whole hours. */
export const taskActivity = taskInfo.extend({
  triggered: z.number().int(),
  completed: z.number().int(),
  /** FAILED, CRASHED, SYSTEM_FAILURE, TIMED_OUT. */
  failed: z.number().int(),
  /** The share of completed runs among completed and failed ones; null without such runs. */
  successRate: z.number().nullable(),
  /** Duration of the attempts in milliseconds, without waits. */
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  /** Completed and failed runs of each hour, oldest first. */
  ended: z.array(z.number().int()),
  /** The runs that wait in the queue of the task, and the age of the oldest of them, as sampled in the last seconds. */
  waiting: z.number().int(),
  oldestMs: z.number().nullable(),
});
export type TaskActivity = z.infer<typeof taskActivity>;

export const listTaskActivity = operation({
  id: 'listTaskActivity',
  method: 'GET',
  path: '/api/v1/task-activity',
  tag: 'tasks',
  summary: 'List the tasks of the current version with their figures of the last day, in any order',
  access: { ...access, on: 'runs' },
  query: z.object({
    /** Part of the id, the description or the file, case-insensitive. */
    'filter[search]': z.string().max(512).optional(),
    /** Owners, in any case. */
    'filter[owner]': commaList.optional(),
    sort: z.enum(taskSorts).default('name'),
    page: z.coerce.number().int().min(1).max(1_000_000).default(1),
    perPage: z.coerce.number().int().min(1).max(100).default(25),
  }),
  reply: z.object({
    data: z.array(taskActivity),
    pagination: z.object({
      currentPage: z.number().int(),
      totalPages: z.number().int(),
      /** Number of tasks that match the search, on all pages. */
      count: z.number().int(),
    }),
    /** Number of tasks of the current version. */
    total: z.number().int(),
  }),
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
