import { z } from 'zod';
import { operation } from '../operation.ts';
import { runId } from './runs.ts';
import { commaList, date, instant, oneOfList, pageSize, period } from './shapes.ts';

const logLevels = ['debug', 'info', 'log', 'warn', 'error'] as const;

export const logLine = z.object({
  attempt: z.number().int(),
  at: date,
  level: z.enum(logLevels),
  message: z.string(),
  properties: z.record(z.string(), z.unknown()).optional(),
});

const searchText = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character');

/** Filters for the lines of a run. All filters must match. */
export const ofLine = {
  'filter[level]': oneOfList(logLevels).optional(),
  /** A text in the message or in the properties, case-insensitive. */
  'filter[text]': searchText.optional(),
  /** A property and its value: `customer.id=42`. */
  'filter[property]': searchText
    .regex(/^[^=]+=/, 'not a property and its value, such as customer.id=42')
    .optional(),
};

/** Filters for lines. All filters must match. */
export const lineFilters = { 'filter[task]': commaList.optional(), ...ofLine };

/** A line with its origin. */
export const foundLine = logLine.extend({
  /** Its position among all lines of the environment, in order of arrival. */
  id: z.number().int(),
  runId: z.string(),
  taskIdentifier: z.string(),
});
export type FoundLine = z.infer<typeof foundLine>;

export const searchLogs = operation({
  id: 'searchLogs',
  method: 'GET',
  path: '/api/v1/logs',
  tag: 'logs',
  summary: 'Search the log lines of all runs, newest first',
  access: { secretKey: true, action: 'read', on: 'runs' },
  query: z.object({
    ...lineFilters,
    'filter[createdAt][from]': instant.optional(),
    'filter[createdAt][to]': instant.optional(),
    /** Takes precedence over from and to. Without any of the three: all stored lines. */
    'filter[createdAt][period]': period.optional(),
    'page[size]': pageSize(100, 1_000),
    'page[after]': z.coerce.number().int().min(1).optional(),
  }),
  reply: z.object({
    data: z.array(foundLine),
    /** The search continues with `next`, even if this page has few lines, because each page takes only a fraction of a second. */
    pagination: z.object({ next: z.string().optional() }),
  }),
});

export const listRunLogs = operation({
  id: 'listRunLogs',
  method: 'GET',
  path: '/api/v1/runs/:runId/logs',
  tag: 'runs',
  summary: 'Retrieve the console and logger output of a run',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  query: z.object({
    /** Lines after this position, the `next` of an earlier page. */
    after: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(1_000).default(200),
    /** `true`: the latest lines instead of the first, also in arrival order. */
    latest: z.enum(['true', 'false']).optional(),
    ...ofLine,
  }),
  reply: z.object({ lines: z.array(logLine), next: z.number().int().optional() }),
  errors: [404],
});
