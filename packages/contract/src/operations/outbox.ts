import { z } from 'zod';
import { maxJsonEscapes, maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { date } from './shapes.ts';
import { triggerBodyLimit, triggerOptions } from './tasks.ts';

/** Maximum number of outbox rows in one request. */
export const outboxLimit = 500;

const id = z.string().regex(/^run_[0-9a-z]{24}$/, 'must be the id that millrace.trigger returned');

/** A row of an outbox: a run that a committed transaction triggered. */
export const outboxItem = z.object({
  /** The id of the run. A repeated row refers to the same run. */
  id,
  task: z.string().min(1).max(128),
  payload: z.unknown().optional(),
  /** Runs triggered in transactions have no parent. */
  options: triggerOptions.omit({ parentRunId: true, parentFence: true, waitKey: true }).optional(),
  /** When it was triggered; a delay is counted from then. */
  createdAt: date.optional(),
});
export type OutboxItem = z.input<typeof outboxItem>;

export const deliverOutbox = operation({
  id: 'deliverOutbox',
  method: 'POST',
  path: '/api/v1/outbox',
  tag: 'tasks',
  summary: 'Create the runs of outbox rows, each exactly once, in order',
  access: { secretKey: true, action: 'trigger', on: 'tasks', objects: true, forbidsRuns: true },
  body: z.object({
    /** Each is checked separately, so that an invalid one does not affect the others. */
    items: z
      .array(z.looseObject({ id, task: z.unknown() }))
      .min(1)
      .max(outboxLimit),
  }),
  bodyLimit: triggerBodyLimit,
  maxMembers: 4 * maxJsonMembers,
  maxEscapes: maxJsonEscapes,
  reply: z.object({
    /** In the order of the request. */
    results: z.array(
      z.union([
        /** The resulting run: it has the same id, unless an idempotency key or a debounce matched another one. */
        z.object({ id: z.string(), run: z.string() }),
        /** It cannot be delivered, and sending it again would not help. */
        z.object({ id: z.string(), status: z.number().int(), error: z.string() }),
      ]),
    ),
  }),
  errors: [413, 429],
});
