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
  /** Omitted for a direct child of the attempt. It may refer to a span that is not stored. */
  parentId: z.string().optional(),
  attempt: z.number().int(),
  name: z.string(),
  kind: z.enum(spanKinds),
  startedAt: date,
  /** The start time in microseconds since 1970. Within an attempt it is from a monotonic clock. */
  startedAtUs: z.number(),
  durationUs: z.number(),
  status: z.enum(['unset', 'ok', 'error']),
  /** The error message. */
  message: z.string().optional(),
  attributes,
  events: z.array(z.object({ name: z.string(), atUs: z.number(), attributes: attributes.optional() })),
  /** The library that created it. */
  scope: z.string().optional(),
  /** Number of attributes and events that were left out because of the limits. */
  omitted: z.number().int(),
});
export type RunSpan = z.infer<typeof runSpan>;

export const listRunSpans = operation({
  id: 'listRunSpans',
  method: 'GET',
  path: '/api/v1/runs/:runId/spans',
  tag: 'runs',
  summary: "List the spans of a run's code, in the order in which they ended",
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  query: z.object({
    /** Spans after this position, the `next` of an earlier page. */
    after: z.coerce.number().int().min(0).default(0),
    /** Spans that were sent together are returned together, so a page may contain slightly more. */
    limit: z.coerce.number().int().min(1).max(1_000).default(200),
  }),
  reply: z.object({
    spans: z.array(runSpan),
    /** Number of spans that were dropped because of the limits. */
    dropped: z.number().int(),
    next: z.number().int().optional(),
  }),
  errors: [404],
});
