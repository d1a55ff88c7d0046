import { z } from 'zod';
import { operation } from '../operation.ts';
import { deployment } from './deployments.ts';

/** `changed`: at least one of its options, or its payload schema, differs. `same`: only its code may differ. */
export const taskChanges = ['added', 'removed', 'changed', 'same'] as const;

/** An option of a task, or a part of its payload schema, that differs between two versions. */
export const optionChange = z.object({
  /** Such as `retry.maxAttempts` or `payloadSchema.properties.amount.type`. */
  field: z.string(),
  /** Missing if the older version does not set it. */
  before: z.unknown().optional(),
  /** Missing if the newer version does not set it. */
  after: z.unknown().optional(),
});
export type OptionChange = z.infer<typeof optionChange>;

/**
 * The runs of a task that ended on a version, within the last 28 six-hour periods in which the task was active on it: a week of constant
 * activity. At most ten seconds old.
 */
export const endedRuns = z.object({
  completed: z.number().int(),
  /** FAILED, CRASHED, SYSTEM_FAILURE and TIMED_OUT. */
  failed: z.number().int(),
  /** CANCELED and EXPIRED. */
  canceled: z.number().int(),
  /** The share of `failed` in `completed` and `failed`, from 0 to 1; null if there are none. */
  failureRate: z.number().nullable(),
  /** Duration of an attempt in milliseconds, excluding its waits, at most 9% off; null if no attempt ended. */
  p50: z.number().nullable(),
  p95: z.number().nullable(),
});
export type EndedRuns = z.infer<typeof endedRuns>;

/** A task of one or both versions. */
export const comparedTask = z.object({
  id: z.string(),
  change: z.enum(taskChanges),
  /** Empty unless `change` is `changed`. */
  changes: z.array(optionChange),
  /** On the older version; null if it lacks the task. */
  before: endedRuns.nullable(),
  /** On the newer version; null if it lacks the task. */
  after: endedRuns.nullable(),
});
export type ComparedTask = z.infer<typeof comparedTask>;

/** Two versions, the older one first. */
export const comparison = z.object({
  before: deployment,
  after: deployment,
  /** Tasks of either version: first those that fail more often on the newer one, then added, removed, changed and other ones, by id. */
  tasks: z.array(comparedTask),
  /** The deployments after the older version, up to and including the newer one, newest first. */
  deployments: z.array(deployment),
  /** Whether there are more deployments between the two than the 100 newest ones. */
  hasMoreDeployments: z.boolean(),
  /** The page of the commits between the two on GitHub, GitLab, Bitbucket or Codeberg; null if a commit or the remote is not known. */
  commitsUrl: z.string().nullable(),
});
export type Comparison = z.infer<typeof comparison>;

export const compareDeployments = operation({
  id: 'compareDeployments',
  method: 'GET',
  path: '/api/v1/deployments/:version/compare',
  tag: 'deployments',
  summary: 'Compare two versions: tasks and options, commits, failure rates and durations',
  access: { secretKey: true, action: 'read', on: 'deployments' },
  /** A version such as `20261121.3`, or the id of a deployment. */
  params: z.object({ version: z.string().min(1).max(128) }),
  query: z.object({
    /** The other version. Default: the newest older version that has been current; for the canary, the current version. */
    with: z.string().min(1).max(128).optional(),
  }),
  reply: comparison,
  errors: [404, 422],
});
