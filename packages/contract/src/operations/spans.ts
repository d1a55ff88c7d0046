import { z } from 'zod';
import { operation } from '../operation.ts';
import { spanKinds } from '../runner/spans.ts';
import { runId } from './runs.ts';
import { date } from './shapes.ts';

const attributes = z.record(
  z.string(),
  z.union([
    z.string(),
    z.number(),
    z.boolean(),
    z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])),
  ]),
);

export const runSpan = z.object({
  /** 16 hexadecimal digits. */
  id: z.string(),
  /** 32 hexadecimal digits. */
  traceId: z.string(),
  /** Omitted for a span directly below its attempt. It may name a span that is not stored. */
  parentId: z.string().optional(),
  attempt: z.number().int(),
  name: z.string(),
  kind: z.enum(spanKinds),
  startedAt: date,
  /** The same in microseconds since 1970. Within an attempt it is of a monotonic clock. */
  startedAtUs: z.number(),
  durationUs: z.number(),
  status: z.enum(['unset', 'ok', 'error']),
  /** Why it failed. */
  message: z.string().optional(),
  attributes,
  events: z.array(z.object({ name: z.string(), atUs: z.number(), attributes: attributes.optional() })),
  /** The library that made it. */
  scope: z.string().optional(),
  /** How many attributes and events were left out, because there were too many. */
  omitted: z.number().int(),
});
export type RunSpan = z.infer<typeof runSpan>;

export const listRunSpans = operation({
  id: 'listRunSpans',
  method: 'GET',
  path: '/api/v1/runs/:runId/spans',
  tag: 'runs',
  summary: "Spans of a run's code, in the order in which they ended",
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  query: z.object({
    /** Spans after this position, as `next` gave it. */
    after: z.coerce.number().int().min(0).default(0),
    /** Spans that were sent together stay together, so a page may have some more. */
    limit: z.coerce.number().int().min(1).max(1_000).default(200),
  }),
  reply: z.object({
    spans: z.array(runSpan),
    /** How many spans were dropped, because there were too many. */
    dropped: z.number().int(),
    next: z.number().int().optional(),
  }),
  errors: [404],
});
