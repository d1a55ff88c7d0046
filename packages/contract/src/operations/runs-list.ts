import { z } from 'zod';
import { environmentKind, type EnvironmentKind } from '../environment.ts';
import { operation } from '../operation.ts';
import { machinePresets } from '../runner/manifest.ts';
import { runStatuses, type RunStatus } from '../status.ts';
import { pathFilter } from './run-paths.ts';
import { runFields } from './runs.ts';
import { commaList, cursors, instant, oneOfList, pageSize, period } from './shapes.ts';

/** Names of statuses before 2025-07-16; filters accept both. */
export const formerStatuses: Readonly<Record<string, RunStatus>> = {
  WAITING_FOR_DEPLOY: 'PENDING_VERSION',
  REATTEMPTING: 'EXECUTING',
  FROZEN: 'WAITING',
  INTERRUPTED: 'FAILED',
};

const statuses = oneOfList([...runStatuses, ...Object.keys(formerStatuses)]).transform((names) => [
  ...new Set(names.map((name) => formerStatuses[name] ?? (name as RunStatus))),
]);

const environments = commaList.transform((names, context) => {
  const kinds: EnvironmentKind[] = [];
  for (const name of names) {
    const kind = environmentKind(name);
    if (kind !== undefined) kinds.push(kind);
    else {
      context.addIssue({
        code: 'custom',
        message: `unknown environment ${name}; use dev, stg, prod or preview`,
      });
    }
  }
  return kinds;
});

export const listRunsQuery = z.object({
  'page[size]': pageSize(25),
  /** A cursor from a page, or the id of a run. */
  'page[after]': z.string().optional(),
  /** Takes precedence over `page[after]`. */
  'page[before]': z.string().optional(),
  'filter[status]': statuses.optional(),
  'filter[taskIdentifier]': commaList.optional(),
  'filter[version]': commaList.optional(),
  /** Runs with any of these tags. */
  'filter[tag]': commaList.optional(),
  'filter[schedule]': z.string().optional(),
  'filter[batch]': z.string().optional(),
  'filter[bulkAction]': z.string().optional(),
  /** `task/<id>` for the queue of a task, otherwise the name of a queue. */
  'filter[queue]': commaList.optional(),
  /** The machine that the trigger requested. */
  'filter[machine]': oneOfList(machinePresets).optional(),
  'filter[region]': commaList.optional(),
  /** Runs that failed with this error group. */
  'filter[error]': z.string().optional(),
  /** Part of the type or message of the error, case-insensitive: runs of the error groups whose text contains it. */
  'filter[errorText]': z.string().min(1).max(1_000).optional(),
  /** JSON, such as `{"customer.id":42}`: runs whose metadata has these values, at declared paths of the environment. */
  'filter[metadata]': pathFilter.optional(),
  /** The same for payloads. */
  'filter[payload]': pathFilter.optional(),
  'filter[isTest]': z.enum(['true', 'false']).optional(),
  'filter[createdAt][from]': instant.optional(),
  'filter[createdAt][to]': instant.optional(),
  /** Takes precedence over from and to. Without any of the three: the last seven days. */
  'filter[createdAt][period]': period.optional(),
  /** Also return the error of each run that failed. */
  errors: z.enum(['true', 'false']).optional(),
});

export const runListItem = runFields.extend({
  env: z.object({ id: z.string(), name: z.string() }),
  depth: z.number().int(),
  /** Only if `errors` are requested: the type and the first line of the message, at most 300 characters. */
  error: z.object({ name: z.string().optional(), message: z.string() }).optional(),
});
export type RunListItem = z.infer<typeof runListItem>;

const runPage = z.object({ data: z.array(runListItem), pagination: cursors });

export const listRuns = operation({
  id: 'listRuns',
  method: 'GET',
  path: '/api/v1/runs',
  tag: 'runs',
  summary: 'List runs, newest first',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  query: listRunsQuery,
  reply: runPage,
});

/** Counting stops at this number. */
export const maxCounted = 10_000;

export const countRuns = operation({
  id: 'countRuns',
  method: 'GET',
  path: '/api/v1/runs/count',
  tag: 'runs',
  summary: 'Count the runs that match a filter, up to 10,000',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  query: listRunsQuery.omit({
    'page[size]': true,
    'page[after]': true,
    'page[before]': true,
    errors: true,
  }),
  reply: z.object({
    count: z.number().int(),
    /** False if there are or may be more, because counting stopped at 10,000, or early because few runs match the filters. */
    isExact: z.boolean(),
  }),
});

export const listProjectRuns = operation({
  id: 'listProjectRuns',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/runs',
  tag: 'runs',
  summary: 'List runs of all environments of a project, newest first',
  access: { personalAccessToken: true, role: 'viewer' },
  params: z.object({ projectRef: z.string().min(1).max(128) }),
  query: listRunsQuery.extend({
    /** Default: all environments and their branches. */
    'filter[env]': environments.optional(),
  }),
  reply: runPage,
  errors: [404],
});
