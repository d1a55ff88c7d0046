import { z } from 'zod';
import { operation } from '../operation.ts';
import { maxPacketBytes, sealedType } from './packets.ts';
import { attemptError } from './runs-attempts.ts';
import { runId } from './runs.ts';
import { cursors, date, pageSize } from './shapes.ts';

/** Maximum number of steps in a run. */
export const maxSteps = 10_000;
export const maxStepName = 200;

/** The kinds of steps: code, or an operation that waits for or triggers something. */
export const stepKinds = ['RUN', 'SLEEP', 'EVENT', 'TRIGGER', 'TRIGGER_AND_WAIT'] as const;
export type StepKind = (typeof stepKinds)[number];

/** `FAILED`: it has no result. A retry of the run executes it again. */
export const stepStatuses = ['COMPLETED', 'FAILED'] as const;

export const stepName = z
  .string()
  .min(1)
  .max(maxStepName + 8)
  .refine(
    (name) => !name.includes('\0') && name.isWellFormed(),
    'must not contain NUL or an unpaired surrogate',
  );

/** The fields of a step other than its result. */
const stepFields = z.object({
  /** With an index if the name is used more than once: `charge`, `charge#2`. */
  name: stepName,
  kind: z.enum(stepKinds),
  status: z.enum(stepStatuses),
  /** The attempt that stored it. */
  attempt: z.number().int(),
  /** How often its function was called for this result. */
  tries: z.number().int(),
  startedAt: date,
  endedAt: date,
  durationMs: z.number(),
  /** The task that it triggered, the event for which it waited, or the time until which it slept. */
  detail: z.string().optional(),
  version: z.string().optional(),
  /** The run from which a replay reused the result. */
  takenFrom: z.string().optional(),
});

/** A step as shown to people: secrets are redacted. */
export const runStep = stepFields.extend({
  output: z.unknown().optional(),
  /** Replaces a large `output`: the address from which to read it, valid for five minutes. */
  outputPresignedUrl: z.string().optional(),
  error: attemptError.omit({ group: true }).optional(),
});
export type RunStep = z.infer<typeof runStep>;

export const listRunSteps = operation({
  id: 'listRunSteps',
  method: 'GET',
  path: '/api/v1/runs/:runId/steps',
  tag: 'runs',
  summary: 'List the stored steps of a run, in the order in which they ended',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  query: z.object({
    'page[size]': pageSize(100),
    /** The name of a step. */
    'page[after]': stepName.optional(),
  }),
  reply: z.object({ data: z.array(runStep), pagination: cursors }),
  errors: [404],
});

/** A stored step as read by the code of its run. */
const storedStep = stepFields.pick({ name: true, kind: true, status: true, attempt: true }).extend({
  seq: z.number().int(),
  /** When it was stored: milliseconds since 1970, by the server's clock. */
  at: z.number(),
  detail: z.string().optional(),
  /** In the format of `outputType`. */
  output: z.string().optional(),
  outputType: z.string().optional(),
  /** Instead of a large `output`. */
  outputPresignedUrl: z.string().optional(),
  error: z.looseObject({ message: z.string(), name: z.string().optional() }).optional(),
  /** Whether another version of the code stored it. */
  isOtherVersion: z.boolean(),
  /** Whether the code of the run awaited only this step when it called it. */
  isSequential: z.boolean(),
});
export type StoredStep = z.infer<typeof storedStep>;

const maxErrorText = 100_000;
const errorText = z.string().max(maxErrorText);
const errorFields = z.object({
  message: errorText,
  name: errorText.optional(),
  type: errorText.optional(),
  stackTrace: errorText.optional(),
  code: errorText.optional(),
  /** In `causes`: one of the `errors` rather than the `cause`. */
  isMember: z.literal(true).optional(),
  /** The error as an envelope, if a client's codec sealed it. */
  sealed: z
    .string()
    .max(2 * maxErrorText)
    .optional(),
});

/** An error with its causes. */
const withCauses = <T extends z.ZodType>(cause: T) =>
  errorFields.extend({ causes: z.array(cause).max(20).optional() });

/** The error of a failed step, with as many levels of causes as the SDK sends. */
const stepError = withCauses(withCauses(withCauses(errorFields))).extend({
  /** Whether another attempt of the run would not help. */
  isFinal: z.boolean().optional(),
});

const ofOwnRun = { secretKey: true, action: 'write', on: 'runs', objects: true } as const;
/** Proof that the sender is the attempt that owns the run. */
const ownFence = z.coerce.number().int().min(1);

export const loadRunSteps = operation({
  id: 'loadRunSteps',
  method: 'GET',
  path: '/api/v1/runs/:runId/steps/results',
  tag: 'runs',
  summary: 'Retrieve the results that earlier attempts stored, for the code of a run',
  access: ofOwnRun,
  params: runId,
  query: z.object({
    fence: ownFence,
    'page[after]': stepName.optional(),
    /** Only this step. The address of a large result is valid for five minutes. */
    name: stepName.optional(),
  }),
  reply: z.object({ data: z.array(storedStep), pagination: cursors }),
  errors: [404, 409],
});

export const storeRunStep = operation({
  id: 'storeRunStep',
  method: 'PUT',
  path: '/api/v1/runs/:runId/steps',
  tag: 'runs',
  summary: 'Store the result of a step, for the code of a run. The first result counts',
  access: ofOwnRun,
  params: runId,
  // An output is a string in JSON: in the worst realistic case each of its characters is escaped.
  bodyLimit: 2 * maxPacketBytes + 262_144,
  maxEscapes: maxPacketBytes + 65_536,
  body: z.object({
    fence: ownFence,
    name: stepName,
    kind: z.enum(stepKinds),
    status: z.enum(stepStatuses),
    /** Its sequence number among the stored steps of the run. */
    seq: z.number().int().min(1).max(maxSteps, `a run has at most ${maxSteps} steps`),
    tries: z.number().int().min(1).max(1_000_000),
    /** Milliseconds from its start to now. */
    tookMs: z.number().min(0).max(4e12),
    detail: z.string().max(512).optional(),
    /** For a SLEEP, milliseconds to sleep from now. Its `detail` then becomes the end time. */
    sleepMs: z.number().min(0).max(4e12).optional(),
    output: z.string().optional(),
    outputType: z.enum(['application/json', 'application/super+json', 'text/plain', sealedType]).optional(),
    error: stepError.optional(),
    /** Whether the code of the run awaited only this step when it called it. */
    isSequential: z.boolean().optional(),
  }),
  reply: z.object({
    /** False if there already was a result, which is retained. */
    isNew: z.boolean(),
    /** When it was stored: milliseconds since 1970, by the server's clock. */
    at: z.number(),
    detail: z.string().optional(),
  }),
  errors: [404, 409, 413, 422],
});
