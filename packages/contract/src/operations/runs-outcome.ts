import { z } from 'zod';
import { operation } from '../operation.ts';
import { logLine } from './logs.ts';
import { runId } from './runs.ts';
import { date } from './shapes.ts';

const read = { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true } as const;

const resultError = z.looseObject({ type: z.string() });

/** The output or error of an ended run. */
export const runResult = z.union([
  z.object({
    ok: z.literal(true),
    id: z.string(),
    /** In the format of `outputType`. */
    output: z.string().optional(),
    outputType: z.string(),
    usage: z.object({ durationMs: z.number() }),
    taskIdentifier: z.string(),
  }),
  z.object({ ok: z.literal(false), id: z.string(), error: resultError, taskIdentifier: z.string() }),
]);

export const retrieveRunResult = operation({
  id: 'retrieveRunResult',
  method: 'GET',
  path: '/api/v1/runs/:runId/result',
  tag: 'runs',
  summary: 'Retrieve the output or error of an ended run',
  access: { ...read, publicToken: false },
  params: runId,
  reply: runResult,
  errors: [404],
});

export const listRunEvents = operation({
  id: 'listRunEvents',
  method: 'GET',
  path: '/api/v1/runs/:runId/events',
  tag: 'runs',
  summary: 'List the log lines of a run as events: the first 1,000, with a marker if there are more',
  access: read,
  params: runId,
  reply: z.object({ events: z.array(logLine.extend({ id: z.string(), runId: z.string() })) }),
  errors: [404],
});

export interface Span {
  id: string;
  parentId?: string | undefined;
  runId: string;
  data: {
    message: string;
    taskSlug?: string | undefined;
    startTime: string;
    /** Milliseconds, up to now for a run that has not ended. */
    duration: number;
    isError: boolean;
    isPartial: boolean;
    isCancelled: boolean;
    level: string;
    workerVersion?: string | undefined;
    queueName?: string | undefined;
  };
  children: Span[];
}

const span: z.ZodType<Span> = z.object({
  id: z.string(),
  parentId: z.string().optional(),
  runId: z.string(),
  data: z.object({
    message: z.string(),
    taskSlug: z.string().optional(),
    startTime: date,
    duration: z.number(),
    isError: z.boolean(),
    isPartial: z.boolean(),
    isCancelled: z.boolean(),
    level: z.string(),
    workerVersion: z.string().optional(),
    queueName: z.string().optional(),
  }),
  get children() {
    return z.array(span);
  },
});

export const retrieveRunTrace = operation({
  id: 'retrieveRunTrace',
  method: 'GET',
  path: '/api/v1/runs/:runId/trace',
  tag: 'runs',
  summary: 'Retrieve a run and its descendants as spans',
  access: read,
  params: runId,
  reply: z.object({ trace: z.object({ traceId: z.string(), rootSpan: span }) }),
  errors: [404],
});
