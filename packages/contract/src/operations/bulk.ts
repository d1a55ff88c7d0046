import { z } from 'zod';
import { parseInstant } from '../duration.ts';
import { operation } from '../operation.ts';
import { parsePeriodMs } from '../period.ts';
import { machinePresets } from '../runner/manifest.ts';
import { runStatuses } from '../status.ts';
import { pathValues } from './run-paths.ts';
import { cursors, date, pageSize } from './shapes.ts';

/** Maximum number of runs that a bulk action can list individually. */
export const maxBulkRuns = 500;

/** One or several values; several match any of them. */
export const some = <const S extends z.ZodType>(schema: S) =>
  z.union([schema, z.array(schema).min(1).max(100)]).transform((value) => [value].flat() as z.output<S>[]);

const words = some(z.string().min(1));

const moment = z.union([z.number(), z.string()]).transform((value, context) => {
  const at = typeof value === 'number' ? new Date(value) : parseInstant(value);
  if (at !== undefined && !Number.isNaN(at.getTime())) return at;
  context.addIssue({ code: 'custom', message: 'not a date; send ISO 8601 or milliseconds since 1970' });
  return z.NEVER;
});

/**
 * The runs, with the filters of the list of runs. All filters must match. An unknown filter is rejected, because ignoring it would select
 * more runs than intended.
 */
export const runSelection = z.strictObject({
  status: some(z.enum(runStatuses)).optional(),
  taskIdentifier: words.optional(),
  version: words.optional(),
  tag: words.optional(),
  queue: some(z.object({ type: z.enum(['task', 'custom']), name: z.string().min(1) })).optional(),
  machine: some(z.enum(machinePresets)).optional(),
  region: words.optional(),
  isTest: z.boolean().optional(),
  schedule: z.string().optional(),
  batch: z.string().optional(),
  bulkAction: z.string().optional(),
  /** `error_…`: runs that failed with this error group. */
  error: z.string().optional(),
  /** Part of the type or message of the error, case-insensitive. */
  errorText: z.string().min(1).max(1_000).optional(),
  /** Metadata values at declared paths, such as `{ "customer.id": 42 }`. */
  metadata: pathValues.optional(),
  /** Payload values at declared paths. */
  payload: pathValues.optional(),
  from: moment.optional(),
  to: moment.optional(),
  /** Takes precedence over from and to. Without any of the three: the last seven days. */
  period: z
    .string()
    .refine(
      (text) => parsePeriodMs(text) !== undefined,
      'not a period; send a number and a unit (s, m, h, d, w), such as 7d',
    )
    .optional(),
});

export const namesRuns = (members: object): boolean =>
  Object.values(members).some((value) => value !== undefined);

const filter = runSelection.refine(namesRuns, {
  message: 'must have at least one member; for all runs of a period, set period',
});
export type BulkFilter = z.output<typeof filter>;

export const createBulkAction = operation({
  id: 'createBulkAction',
  method: 'POST',
  path: '/api/v1/bulk-actions',
  tag: 'bulk actions',
  summary: 'Cancel or replay many runs, selected by id or by a filter',
  access: { secretKey: true, action: 'write', on: 'runs' },
  body: z
    .object({
      action: z.enum(['cancel', 'replay']),
      filter: filter.optional(),
      runIds: z.array(z.string().min(1).max(128)).min(1).max(maxBulkRuns).optional(),
      /** A name for display. */
      name: z.string().max(255).optional(),
      /** Regions are not supported, so this is rejected. */
      targetRegion: z
        .undefined({ error: 'replays run wherever runners are; a region cannot be selected' })
        .optional(),
    })
    .refine(({ filter: found, runIds }) => (found === undefined) !== (runIds === undefined), {
      message: 'set either filter or runIds',
      path: ['filter'],
    }),
  status: 202,
  reply: z.object({ id: z.string() }),
  errors: [413, 429],
});

/**
 * The state of a bulk action. `total` grows until all its runs have been found. The action has ended when `success` and `failure` add up to
 * `total`.
 */
export const bulkAction = z.object({
  id: z.string(),
  name: z.string().optional(),
  type: z.enum(['CANCEL', 'REPLAY']),
  status: z.enum(['PENDING', 'COMPLETED', 'ABORTED']),
  counts: z.object({
    total: z.number().int(),
    success: z.number().int(),
    /** Runs that no longer exist, or had ended before they could be canceled. */
    failure: z.number().int(),
  }),
  createdAt: date,
  completedAt: date.optional(),
});
export type BulkAction = z.infer<typeof bulkAction>;

export const listBulkActions = operation({
  id: 'listBulkActions',
  method: 'GET',
  path: '/api/v1/bulk-actions',
  tag: 'bulk actions',
  summary: 'List bulk actions, newest first',
  access: { secretKey: true, action: 'read', on: 'runs' },
  query: z.object({
    'page[size]': pageSize(25),
    /** The id of a bulk action. */
    'page[after]': z.string().optional(),
    /** Takes precedence over `page[after]`. */
    'page[before]': z.string().optional(),
  }),
  reply: z.object({ data: z.array(bulkAction), pagination: cursors }),
});

const params = z.object({ bulkActionId: z.string().min(1).max(128) });

export const retrieveBulkAction = operation({
  id: 'retrieveBulkAction',
  method: 'GET',
  path: '/api/v1/bulk-actions/:bulkActionId',
  tag: 'bulk actions',
  summary: 'Retrieve the progress of a bulk action',
  access: { secretKey: true, action: 'read', on: 'runs' },
  params,
  reply: bulkAction,
  errors: [404],
});

export const abortBulkAction = operation({
  id: 'abortBulkAction',
  method: 'POST',
  path: '/api/v1/bulk-actions/:bulkActionId/abort',
  tag: 'bulk actions',
  summary: 'Stop a bulk action; completed changes are not reverted',
  access: { secretKey: true, action: 'write', on: 'runs' },
  params,
  reply: z.object({ id: z.string() }),
  errors: [404, 422],
});
