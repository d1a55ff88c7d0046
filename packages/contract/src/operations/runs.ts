import { z } from 'zod';
import { operation } from '../operation.ts';
import { runStatuses } from '../status.ts';
import { readsPacket } from './packets.ts';
import { date, optionsResponse } from './shapes.ts';

export const runId = z.object({ runId: z.string().min(1).max(128) });

/** The common fields of list items, related runs and the retrieved run. */
export const runFields = z.object({
  id: z.string(),
  status: z.enum(runStatuses),
  taskIdentifier: z.string(),
  idempotencyKey: z.string().optional(),
  version: z.string().optional(),
  isQueued: z.boolean(),
  isExecuting: z.boolean(),
  isWaiting: z.boolean(),
  isCompleted: z.boolean(),
  isSuccess: z.boolean(),
  isFailed: z.boolean(),
  isCancelled: z.boolean(),
  isTest: z.boolean(),
  createdAt: date,
  updatedAt: date,
  startedAt: date.optional(),
  finishedAt: date.optional(),
  delayedUntil: date.optional(),
  expiredAt: date.optional(),
  ttl: z.string().optional(),
  tags: z.array(z.string()),
  costInCents: z.number(),
  baseCostInCents: z.number(),
  /** Active milliseconds of all attempts. */
  durationMs: z.number(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  ...optionsResponse,
});

export const relatedRun = runFields.extend({
  depth: z.number(),
  triggerFunction: z.enum(['trigger', 'triggerAndWait', 'batchTrigger', 'batchTriggerAndWait']),
  batchId: z.string().optional(),
});

const errorResponse = z.object({
  message: z.string(),
  name: z.string().optional(),
  stackTrace: z.string().optional(),
  /** The error as an envelope, if a client's codec sealed it. */
  sealed: z.string().optional(),
});

export const run = relatedRun.extend({
  payload: z.unknown().optional(),
  output: z.unknown().optional(),
  /** Replaces a large `payload` or `output`: the address from which to read it, in the format of its Content-Type, valid for five minutes. */
  payloadPresignedUrl: z.string().optional(),
  outputPresignedUrl: z.string().optional(),
  /** The error of its last attempt. `causes` are the underlying errors, each before the error that it caused. */
  error: errorResponse.extend({ causes: z.array(errorResponse).optional() }).optional(),
  relatedRuns: z.object({
    root: relatedRun.optional(),
    parent: relatedRun.optional(),
    /** At most the first hundred. */
    children: z.array(relatedRun).optional(),
  }),
  attemptCount: z.number().int(),
  /** The run that it is a replay of. */
  replayOf: z.string().optional(),
  /** The queue in which it waits or waited. */
  queue: z.string(),
  /** When its payload, output and other data were erased; missing for other runs. */
  erasedAt: date.optional(),
  /** The revision of the environment's variables that its last attempt ran with; missing when none were set. */
  variablesRevision: z.number().int().optional(),
  /** The schedule that created it, unless that was deleted. */
  schedule: z
    .object({
      id: z.string(),
      externalId: z.string().optional(),
      deduplicationKey: z.string().optional(),
      generator: z.object({ type: z.literal('CRON'), expression: z.string(), description: z.string() }),
    })
    .optional(),
  /** Options of its trigger that are not listed above, in the form that a trigger accepts. Only if `trigger` is requested. */
  trigger: z
    .object({
      /** Omitted for JSON, and for a payload that is stored separately. */
      payloadType: z.string().optional(),
      /** The payload as it was sent, if that is not a JSON value: with the type `application/super+json`. */
      payloadText: z.string().optional(),
      concurrencyKey: z.string().optional(),
      priority: z.number().optional(),
      machine: z.string().optional(),
      maxAttempts: z.number().int().optional(),
      maxDuration: z.number().int().optional(),
      singleton: z.object({ key: z.string().optional() }).optional(),
      /** For a run that collects or has collected the payloads of triggers; empty without a key. Its payload is the array of their payloads. */
      batchKey: z.string().optional(),
      /** As stored: for a key that the SDK created, its digest. */
      idempotencyKey: z.string().optional(),
      idempotencyKeyOptions: z.object({ key: z.string(), scope: z.string() }).optional(),
    })
    .optional(),
  /** The event that triggered it, without its payload. */
  event: z.looseObject({ id: z.string(), name: z.string(), timestamp: date }).optional(),
});
export type Run = z.infer<typeof run>;

export const retrieveRun = operation({
  id: 'retrieveRun',
  method: 'GET',
  path: '/api/v3/runs/:runId',
  tag: 'runs',
  summary: 'Retrieve a run',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  query: z.object({
    /** Also return the options needed to trigger the same run again. */
    trigger: z.enum(['true', 'false']).optional(),
  }),
  reply: run,
  errors: [404],
});

export const retrieveRunPacket = operation({
  ...readsPacket,
  id: 'retrieveRunPacket',
  path: '/api/v1/runs/:runId/packets/:field',
  summary: "Create a download URL for a run's stored payload or output",
  params: runId.extend({ field: z.enum(['payload', 'output']) }),
});
