import { z } from 'zod';
import { operation } from '../operation.ts';
import { finalStatuses } from '../status.ts';
import { namesRuns, runSelection, some } from './bulk.ts';
import { cursors, date, pageSize } from './shapes.ts';

/** Maximum number of runs that an erasure can list individually. */
export const maxErasedRuns = 10_000;

/** The runs to erase or archive. Without `period`, `from` and `to`: of any age. */
export const erasureFilter = runSelection
  .extend({
    /** Only ended runs are erased. */
    status: some(z.enum(finalStatuses)).optional(),
  })
  .refine(namesRuns, { message: 'must have at least one member; for all ended runs, set period or to' });

/** The state of an erasure. */
export const erasure = z.object({
  id: z.string(),
  mode: z.enum(['erase', 'delete']),
  status: z.enum(['PENDING', 'COMPLETED', 'ABORTED']),
  counts: z.object({
    erased: z.number().int(),
    /** Runs that had not ended when the erasure was requested, and listed runs that do not exist. They are unchanged. */
    skipped: z.number().int(),
  }),
  createdAt: date,
  completedAt: date.optional(),
});
export type Erasure = z.infer<typeof erasure>;

/** Erased data is lost, so only unrestricted keys may. */
const write = { secretKey: true, forbidsRuns: true } as const;
const read = { secretKey: true, action: 'read', on: 'runs' } as const;

export const createErasure = operation({
  id: 'createErasure',
  method: 'POST',
  path: '/api/v1/erasures',
  tag: 'erasures',
  summary: 'Erase the data of ended runs, or delete them, selected by id or by a filter',
  access: write,
  bodyLimit: 1_048_576,
  body: z
    .strictObject({
      filter: erasureFilter.optional(),
      runIds: z.array(z.string().min(1).max(128)).min(1).max(maxErasedRuns).optional(),
      /** `erase` leaves the id, task, status and times of each run; `delete` leaves nothing. */
      mode: z.enum(['erase', 'delete']).default('erase'),
    })
    .refine(({ filter: found, runIds }) => (found === undefined) !== (runIds === undefined), {
      message: 'set either filter or runIds',
      path: ['filter'],
    }),
  status: 202,
  reply: erasure,
  errors: [413, 429],
});

export const listErasures = operation({
  id: 'listErasures',
  method: 'GET',
  path: '/api/v1/erasures',
  tag: 'erasures',
  summary: 'List erasures, newest first',
  access: read,
  query: z.object({
    'page[size]': pageSize(25),
    /** The id of an erasure. */
    'page[after]': z.string().optional(),
    /** Takes precedence over `page[after]`. */
    'page[before]': z.string().optional(),
  }),
  reply: z.object({ data: z.array(erasure), pagination: cursors }),
});

const params = z.object({ erasureId: z.string().min(1).max(128) });

export const retrieveErasure = operation({
  id: 'retrieveErasure',
  method: 'GET',
  path: '/api/v1/erasures/:erasureId',
  tag: 'erasures',
  summary: 'Retrieve the progress of an erasure',
  access: read,
  params,
  reply: erasure,
  errors: [404],
});

export const abortErasure = operation({
  id: 'abortErasure',
  method: 'POST',
  path: '/api/v1/erasures/:erasureId/abort',
  tag: 'erasures',
  summary: 'Stop an erasure; erased runs stay erased',
  access: write,
  params,
  reply: erasure,
  errors: [404, 422],
});
