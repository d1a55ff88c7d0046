import { z } from 'zod';
import { maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { run, runId } from './runs.ts';
import { stepName } from './runs-steps.ts';
import { fence, tag } from './shapes.ts';

const write = { secretKey: true, action: 'write', on: 'runs', objects: true } as const;

export const replayRun = operation({
  id: 'replayRun',
  method: 'POST',
  path: '/api/v1/runs/:runId/replay',
  tag: 'runs',
  summary: 'Replay a run: trigger a new one with the same payload',
  access: write,
  params: runId,
  bodyOptional: true,
  bodyLimit: 3_145_728,
  maxMembers: maxJsonMembers,
  body: z.looseObject({
    /** Another payload, in the format of `payloadType`. */
    payload: z.unknown().optional(),
    payloadType: z.string().optional(),
    /** The name of a step: the new run reuses the results of the steps that ended before it. */
    fromStep: stepName.optional(),
  }),
  storesRequestKey: true,
  reply: z.object({ id: z.string() }),
  errors: [404, 413, 422],
});

export const rescheduleRun = operation({
  id: 'rescheduleRun',
  method: 'POST',
  path: '/api/v1/runs/:runId/reschedule',
  tag: 'runs',
  summary: 'Reschedule a delayed run',
  access: write,
  listsIssues: true,
  params: runId,
  body: z.object({
    /** A date that is not in the past, or a duration from now such as `1h30m`. */
    delay: z.string(),
  }),
  reply: run,
  errors: [404, 422],
});

export const addRunTags = operation({
  id: 'addRunTags',
  method: 'POST',
  path: '/api/v1/runs/:runId/tags',
  tag: 'runs',
  summary: 'Add tags to a run',
  access: write,
  listsIssues: true,
  params: runId,
  body: z.object({
    tags: z
      .union([z.string(), z.array(z.string())])
      .transform((value) => (typeof value === 'string' ? [value] : value))
      .pipe(z.array(tag)),
    /** The fence of the run's own attempt, if its code adds them. */
    fence,
  }),
  reply: z.object({ message: z.string() }),
  errors: [404, 409, 422],
});

export const maxMetadataBytes = 262_144;

/** An object without the member `__proto__`, which a record would silently drop. */
const metadata = z.preprocess(
  (value, context) => {
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) {
      context.addIssue({ code: 'custom', message: '"__proto__" is not a valid metadata name' });
    }
    return value;
  },
  z.record(z.string(), z.unknown()),
);

/** `a`, or `$.a.b[0]` for a nested value. */
const key = z.string().min(1).max(512);

/**
 * One change of metadata. `append` and `remove` apply to lists, `increment` to a number; a value of another type is converted. `update`
 * replaces everything.
 */
export const metadataOperation = z.discriminatedUnion('type', [
  z.object({ type: z.literal('set'), key, value: z.unknown() }),
  z.object({ type: z.literal('append'), key, value: z.unknown() }),
  z.object({ type: z.literal('remove'), key, value: z.unknown() }),
  z.object({ type: z.literal('delete'), key }),
  z.object({ type: z.literal('increment'), key, value: z.number() }),
  z.object({ type: z.literal('update'), value: metadata }),
]);
export type MetadataOperation = z.infer<typeof metadataOperation>;

const operations = z.array(metadataOperation).max(10_000).optional();

export const updateRunMetadata = operation({
  id: 'updateRunMetadata',
  method: 'PUT',
  path: '/api/v1/runs/:runId/metadata',
  tag: 'runs',
  summary: 'Update the metadata of a run, its parent and its root',
  access: write,
  params: runId,
  bodyLimit: 2 * 1024 * 1024,
  maxMembers: maxJsonMembers,
  body: z.object({
    /** Replaces the existing metadata; the operations are applied afterwards. */
    metadata: metadata.optional(),
    metadataType: z.string().optional(),
    /** The fence of the run's own attempt, if its code sends them. */
    fence,
    operations,
    parentOperations: operations,
    rootOperations: operations,
  }),
  reply: z.object({ metadata: z.record(z.string(), z.unknown()) }),
  errors: [404, 409, 413, 422],
});

export const retrieveRunMetadata = operation({
  id: 'retrieveRunMetadata',
  method: 'GET',
  path: '/api/v1/runs/:runId/metadata',
  tag: 'runs',
  summary: "Retrieve a run's metadata",
  access: { ...write, action: 'read' },
  params: runId,
  reply: z.object({ metadata: z.record(z.string(), z.unknown()), metadataType: z.string() }),
  errors: [404],
});

const days = z.number().int().min(1).max(36_500).nullable();

const retention = z.object({
  /** Days for which finished runs are stored; null means the server's setting (30 by default). */
  runsDays: days,
  /** The same for COMPLETED runs; null means `runsDays`. */
  completedDays: days,
  /** For FAILED, CRASHED, SYSTEM_FAILURE and TIMED_OUT runs. */
  failedDays: days,
  /** For CANCELED and EXPIRED runs. */
  canceledDays: days,
});
export type RunRetention = z.infer<typeof retention>;

export const retrieveRetention = operation({
  id: 'retrieveRetention',
  method: 'GET',
  path: '/api/v1/retention',
  tag: 'runs',
  summary: 'Retrieve the retention period of ended runs in the environment',
  access: { secretKey: true, action: 'read', on: 'runs' },
  reply: retention,
});

/** Shortening it deletes data, so only unrestricted keys may. */
export const updateRetention = operation({
  id: 'updateRetention',
  method: 'PUT',
  path: '/api/v1/retention',
  tag: 'runs',
  summary: 'Set the retention period of ended runs in the environment',
  access: { secretKey: true, forbidsRuns: true },
  /** A missing member stays unchanged. */
  body: retention.partial().refine((members) => Object.values(members).some((value) => value !== undefined), {
    message: 'set at least one of runsDays, completedDays, failedDays and canceledDays',
  }),
  reply: retention,
});
