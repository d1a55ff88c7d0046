import { z } from 'zod';
import { operation } from '../operation.ts';
import { runStatuses } from '../status.ts';
import { erasureFilter } from './erasures.ts';
import { date } from './shapes.ts';

/**
 * Texts are returned as they are stored: JSON as text, with its type where it may be another. They are exact, and a tool that infers a schema
 * finds the same columns in every record.
 */
const text = z.string().nullable();
const time = date.nullable();

/** A run that has ended, without the records below. */
export const archivedRun = z.object({
  id: z.string(),
  task: z.string(),
  status: z.enum(runStatuses),
  version: text,
  queue: z.string(),
  created_at: date,
  delayed_until: time,
  started_at: time,
  finished_at: date,
  /** When its data was erased. */
  erased_at: time,
  duration_ms: z.number(),
  attempts: z.number().int(),
  is_test: z.boolean(),
  tags: z.array(z.string()),
  description: text,
  machine: text,
  region: text,
  concurrency_key: text,
  idempotency_key: text,
  parent_id: text,
  root_id: text,
  batch_id: text,
  schedule_id: text,
  replay_of: text,
  /** `error_…`, if it failed. */
  error_id: text,
  /** With the type `application/store`, the name of a packet. */
  payload: text,
  payload_type: text,
  output: text,
  output_type: text,
  /** JSON. */
  error: text,
  metadata: text,
  event: text,
});
export type ArchivedRun = z.infer<typeof archivedRun>;

/** An attempt that did not end its run. */
const archivedAttempt = z.object({
  run_id: z.string(),
  number: z.number().int(),
  outcome: z.string(),
  started_at: date,
  ended_at: date,
  active_ms: z.number(),
  error: text,
});

const archivedStep = z.object({
  run_id: z.string(),
  name: z.string(),
  kind: z.string(),
  status: z.string(),
  attempt: z.number().int(),
  tries: z.number().int(),
  started_at: date,
  ended_at: date,
  detail: text,
  output: text,
  output_type: text,
  error: text,
});

const archivedLine = z.object({
  run_id: z.string(),
  attempt: z.number().int(),
  at: date,
  level: z.string(),
  message: z.string(),
  properties: text,
});

/** Spans that arrived together: `spans` is a JSON list. */
const archivedSpans = z.object({
  run_id: z.string(),
  attempt: z.number().int(),
  at: date,
  trace_id: z.string(),
  spans: z.string(),
});

/** A page of an archive. The records of a large run may be spread over several pages; the run itself is in the first of them. */
export const archivePage = z.object({
  runs: z.array(archivedRun),
  attempts: z.array(archivedAttempt),
  steps: z.array(archivedStep),
  logs: z.array(archivedLine),
  spans: z.array(archivedSpans),
  /** The names of the packets of these runs and steps. */
  packets: z.array(z.string()),
  /** Where the next page begins; missing after the last one. */
  next: z.string().optional(),
});
export type ArchivePage = z.infer<typeof archivePage>;

/** The kinds of records of a page that belong to a run. */
export const archivedParts = ['attempts', 'steps', 'logs', 'spans'] as const;
export type ArchivedPart = (typeof archivedParts)[number];

export const readRunArchive = operation({
  id: 'readRunArchive',
  method: 'POST',
  path: '/api/v1/run-archive',
  tag: 'runs',
  summary: 'Read ended runs with all their data, oldest first, to archive them',
  access: { secretKey: true, action: 'read', on: 'runs' },
  body: z.strictObject({
    /** Default: all ended runs of any age. */
    filter: erasureFilter.optional(),
    /** `next` of the previous page. */
    after: z.string().max(512).optional(),
  }),
  reply: archivePage,
});
