import { z } from 'zod';
import { operation } from '../operation.ts';
import { spanKinds } from '../runner/spans.ts';
import { runStatuses } from '../status.ts';
import { attemptError, attemptStatuses, runnerName, waitedFor } from './runs-attempts.ts';
import { stepKinds, stepStatuses } from './runs-steps.ts';
import { logLine } from './logs.ts';
import { runId } from './runs.ts';
import { date, pageSize } from './shapes.ts';

const entry = z.object({
  /** Unique in the timeline. */
  id: z.string(),
  /** The parent entry; missing for the requested run. */
  parentId: z.string().optional(),
  /** The run of the entry. */
  runId: z.string(),
  startedAt: date,
  /** Missing while it is in progress. */
  endedAt: date.optional(),
});

/** The reason why a wait ended. `ATTEMPT_ENDED`: the attempt ended first. */
export const waitEnds = [
  'RUN_ENDED',
  'BATCH_ENDED',
  'TOKEN_COMPLETED',
  'TOKEN_TIMED_OUT',
  'TIME_REACHED',
  'MESSAGE_CAME',
  'MESSAGE_TIMED_OUT',
  'ATTEMPT_ENDED',
] as const;

const runEntry = entry.extend({
  kind: z.literal('run'),
  task: z.string(),
  status: z.enum(runStatuses),
  version: z.string().optional(),
  queue: z.string(),
  concurrencyKey: z.string().optional(),
  batchId: z.string().optional(),
  /** Number of attempts that counted. */
  attemptCount: z.number().int(),
  /** Whether it has child runs that are not included. Request the child's own timeline or, for the requested run, continue with `next`. */
  hasMoreChildren: z.boolean(),
  /** Whether it has older attempts, waits, log lines or spans that are not included. */
  isCut: z.boolean(),
});

const waitingEntry = entry.extend({
  /** It has no attempt yet and waits for one. */
  kind: z.literal('waiting'),
  for: waitedFor.shape.kind,
});

const attemptEntry = entry.extend({
  kind: z.literal('attempt'),
  number: z.number().int(),
  status: z.enum(attemptStatuses),
  /** Milliseconds, excluding its waits. */
  durationMs: z.number(),
  runner: runnerName.optional(),
  version: z.string().optional(),
  variablesRevision: z.number().int().optional(),
  error: attemptError.optional(),
});

const waitEntry = entry.extend({
  /** Its code is waiting; see docs/waits.md. */
  kind: z.literal('wait'),
  for: z.enum(['RUN', 'BATCH', 'TIME', 'TOKEN', 'MESSAGE']),
  /** Id of the run, batch, token or session. */
  target: z.string().optional(),
  endedBy: z.enum(waitEnds).optional(),
  /** The final status of the run for which it waited. */
  targetStatus: z.enum(runStatuses).optional(),
});

const batchEntry = entry.extend({
  /** Its runs are its children. It has no end unless all of its runs are included and have ended. */
  kind: z.literal('batch'),
  runCount: z.number().int(),
});

const logEntry = entry.extend({
  /** A log line, at `startedAt`. A long message is truncated. */
  kind: z.literal('log'),
  level: logLine.shape.level,
  message: z.string(),
});

const spanEntry = entry.extend({
  /** A span of its code, see docs/tracing.md. */
  kind: z.literal('span'),
  /** 16 hexadecimal digits. */
  spanId: z.string(),
  name: z.string(),
  spanKind: z.enum(spanKinds),
  status: z.enum(['unset', 'ok', 'error']),
  /** Milliseconds with fractions, which the times do not have. */
  durationMs: z.number(),
  /** The error message. */
  message: z.string().optional(),
  /** The operation, from its attributes: the text of a query, or the address of a request. Truncated if it is long. */
  detail: z.string().optional(),
});

const stepEntry = entry.extend({
  /** A stored step, see docs/steps.md. */
  kind: z.literal('step'),
  name: z.string(),
  stepKind: z.enum(stepKinds),
  status: z.enum(stepStatuses),
  tries: z.number().int(),
  /** The task that it triggered, the event for which it waited, or the time until which it slept. */
  detail: z.string().optional(),
  error: attemptError.omit({ group: true }).optional(),
  /** The run from which a replay reused the result. It has no duration here. */
  takenFrom: z.string().optional(),
});

export const timelineEntry = z.discriminatedUnion('kind', [
  runEntry,
  waitingEntry,
  attemptEntry,
  waitEntry,
  batchEntry,
  logEntry,
  spanEntry,
  stepEntry,
]);
export type TimelineEntry = z.infer<typeof timelineEntry>;

export const retrieveRunTimeline = operation({
  id: 'retrieveRunTimeline',
  method: 'GET',
  path: '/api/v1/runs/:runId/timeline',
  tag: 'runs',
  summary: 'Retrieve the timeline of a run and its descendants',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  query: z.object({
    /** Levels of child runs. 0 means only the run. */
    depth: z.coerce.number().int().min(0).max(5).default(2),
    /** Number of the run's latest log lines. A child run has at most 5. */
    logs: z.coerce.number().int().min(0).max(500).default(50),
    /** Total number of child runs on all levels. */
    'page[size]': pageSize(100, 500),
    /** Children of the run after this one, the `next` of an earlier page. The run's own entries are then left out. */
    'page[after]': z
      .string()
      .regex(/^run_[0-9a-z]{1,60}$/, 'not a cursor; send one from the pagination of a page unchanged')
      .optional(),
  }),
  reply: z.object({
    /** The server's time, up to which entries in progress extend. */
    at: date,
    /** Each entry follows its parent; siblings are in the order in which they started. */
    entries: z.array(timelineEntry),
    pagination: z.object({ next: z.string().optional() }),
  }),
  errors: [404],
});
