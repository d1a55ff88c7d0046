import { z } from 'zod';
import { operation } from '../operation.ts';
import { runId } from './runs.ts';
import { cursors, date, pageSize } from './shapes.ts';

/** The status of an attempt. */
export const attemptStatuses = [
  'EXECUTING',
  /** Its code is waiting; see docs/waits.md. */
  'WAITING',
  // These ended the run with the same status.
  'COMPLETED',
  'CANCELED',
  'CRASHED',
  'SYSTEM_FAILURE',
  'TIMED_OUT',
  /** Its code failed. The run ended with it, or is retried (`retryAt`). */
  'FAILED',
  // These did not count: the next attempt has the same number.
  /** Its runner was lost. */
  'LOST',
  /** Its runner stopped and returned it. */
  'RETURNED',
  /** The process that ran its code ended while it waited. */
  'DETACHED',
] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];

/** The waits of a run before an attempt, in sequence. */
export const waitedFor = z.object({
  /**
   * `batch`: for the items of its batch; `delay`: for the time of its `delay`; `retry`: the pause after a failed attempt; `wait`: for the
   * wait that its code was in when its process ended; `queue`: for a version, a free slot and a runner.
   */
  kind: z.enum(['batch', 'delay', 'retry', 'wait', 'queue']),
  from: date,
  until: date,
});
export type WaitedFor = z.infer<typeof waitedFor>;

export const runnerName = z.object({ id: z.string(), host: z.string(), pid: z.number().int() });

export const attemptError = z.object({
  name: z.string().optional(),
  message: z.string(),
  stackTrace: z.string().optional(),
  /** The error as an envelope, if a client's codec sealed it. */
  sealed: z.string().optional(),
  /** The error group that it belongs to (`error_…`), if there is one. Only the last error of a run counts as an occurrence. */
  group: z.string().optional(),
});

/** All times are from the server's clock. */
export const attempt = z.object({
  /** Starts at 1. An attempt that did not count is followed by another with the same number. */
  number: z.number().int(),
  status: z.enum(attemptStatuses),
  waitedFor: z.array(waitedFor),
  /** When a runner claimed it. */
  startedAt: date,
  /** Missing while it is live. */
  endedAt: date.optional(),
  /** Milliseconds, excluding its waits. */
  durationMs: z.number(),
  /** Missing if unknown. It remains known after the runner has disconnected. */
  runner: runnerName.optional(),
  version: z.string().optional(),
  /** The revision of the environment's variables that it ran with. */
  variablesRevision: z.number().int().optional(),
  error: attemptError.optional(),
  /** When the next attempt is due; `retryDelayMs` is the pause until then. */
  retryAt: date.optional(),
  retryDelayMs: z.number().optional(),
});
export type Attempt = z.infer<typeof attempt>;

export const listRunAttempts = operation({
  id: 'listRunAttempts',
  method: 'GET',
  path: '/api/v1/runs/:runId/attempts',
  tag: 'runs',
  summary: 'List the attempts of a run, oldest first',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  query: z.object({
    'page[size]': pageSize(100),
    'page[after]': z
      .string()
      .regex(/^\d{1,18}$/, 'not a cursor; send one from the pagination of a page unchanged')
      .optional(),
  }),
  reply: z.object({ data: z.array(attempt), pagination: cursors }),
  errors: [404],
});
