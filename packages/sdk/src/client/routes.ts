import type { OperationDeclaration, Operations } from '@millrace/contract';

/** The operations that this SDK calls. */
export type Called =
  | 'triggerTask'
  | 'triggerMany'
  | 'retrieveRun'
  | 'cancelRun'
  | 'listRunLogs'
  | 'listRuns'
  | 'listProjectRuns'
  | 'replayRun'
  | 'rescheduleRun'
  | 'addRunTags'
  | 'retrieveRunMetadata'
  | 'updateRunMetadata'
  | 'retrieveRunReason'
  | 'listQueues'
  | 'retrieveQueue'
  | 'pauseQueue'
  | 'overrideQueueConcurrency'
  | 'resetQueueConcurrency'
  | 'retrieveConcurrency'
  | 'updateConcurrency'
  | 'listErrors'
  | 'retrieveError'
  | 'resolveError'
  | 'createPublicToken'
  | 'listVariables'
  | 'retrieveVariable'
  | 'createVariable'
  | 'updateVariable'
  | 'deleteVariable'
  | 'importVariables'
  | 'readVariables'
  | 'whoami'
  | 'listVariableRevisions'
  | 'compareVariableRevisions'
  | 'rollBackVariables'
  | 'createSchedule'
  | 'listSchedules'
  | 'retrieveSchedule'
  | 'updateSchedule'
  | 'deleteSchedule'
  | 'activateSchedule'
  | 'deactivateSchedule'
  | 'previewSchedule'
  | 'backfillSchedule'
  | 'listTimezones'
  | 'sendEvent'
  | 'sendEvents'
  | 'listEvents'
  | 'retrieveEvent'
  | 'replayEvent'
  | 'cancelEvent';

type Route<D extends OperationDeclaration> = Pick<D, 'method' | 'path'>;

/**
 * Where each operation is. Written again here because the contract brings zod with it, which this package must not load;
 * the types come from the contract, so a route that differs does not compile.
 */
export const routes: { readonly [K in Called]: Route<Operations[K]> } = {
  triggerTask: { method: 'POST', path: '/api/v1/tasks/:taskId/trigger' },
  triggerMany: { method: 'POST', path: '/api/v1/tasks/trigger-many' },
  retrieveRun: { method: 'GET', path: '/api/v3/runs/:runId' },
  cancelRun: { method: 'POST', path: '/api/v2/runs/:runId/cancel' },
  listRunLogs: { method: 'GET', path: '/api/v1/runs/:runId/logs' },
  listRuns: { method: 'GET', path: '/api/v1/runs' },
  listProjectRuns: { method: 'GET', path: '/api/v1/projects/:projectRef/runs' },
  replayRun: { method: 'POST', path: '/api/v1/runs/:runId/replay' },
  rescheduleRun: { method: 'POST', path: '/api/v1/runs/:runId/reschedule' },
  addRunTags: { method: 'POST', path: '/api/v1/runs/:runId/tags' },
  retrieveRunMetadata: { method: 'GET', path: '/api/v1/runs/:runId/metadata' },
  updateRunMetadata: { method: 'PUT', path: '/api/v1/runs/:runId/metadata' },
  retrieveRunReason: { method: 'GET', path: '/api/v1/runs/:runId/reason' },
  listQueues: { method: 'GET', path: '/api/v1/queues' },
  retrieveQueue: { method: 'GET', path: '/api/v1/queues/:queue' },
  pauseQueue: { method: 'POST', path: '/api/v1/queues/:queue/pause' },
  overrideQueueConcurrency: { method: 'POST', path: '/api/v1/queues/:queue/concurrency/override' },
  resetQueueConcurrency: { method: 'POST', path: '/api/v1/queues/:queue/concurrency/reset' },
  retrieveConcurrency: { method: 'GET', path: '/api/v1/concurrency' },
  updateConcurrency: { method: 'PUT', path: '/api/v1/concurrency' },
  listErrors: { method: 'GET', path: '/api/v1/errors' },
  retrieveError: { method: 'GET', path: '/api/v1/errors/:errorId' },
  resolveError: { method: 'POST', path: '/api/v1/errors/:errorId/resolve' },
  createPublicToken: { method: 'POST', path: '/api/v1/auth/public-tokens' },
  listVariables: { method: 'GET', path: '/api/v1/projects/:projectRef/envvars/:env' },
  retrieveVariable: { method: 'GET', path: '/api/v1/projects/:projectRef/envvars/:env/:name' },
  createVariable: { method: 'POST', path: '/api/v1/projects/:projectRef/envvars/:env' },
  updateVariable: { method: 'PUT', path: '/api/v1/projects/:projectRef/envvars/:env/:name' },
  deleteVariable: { method: 'DELETE', path: '/api/v1/projects/:projectRef/envvars/:env/:name' },
  importVariables: { method: 'POST', path: '/api/v1/projects/:projectRef/envvars/:env/import' },
  readVariables: { method: 'GET', path: '/api/v1/projects/:projectRef/envvars' },
  whoami: { method: 'GET', path: '/api/v1/whoami' },
  listVariableRevisions: { method: 'GET', path: '/api/v1/projects/:projectRef/envvar-revisions/:env' },
  compareVariableRevisions: {
    method: 'GET',
    path: '/api/v1/projects/:projectRef/envvar-revisions/:env/diff',
  },
  rollBackVariables: { method: 'POST', path: '/api/v1/projects/:projectRef/envvar-revisions/:env/rollback' },
  createSchedule: { method: 'POST', path: '/api/v1/schedules' },
  listSchedules: { method: 'GET', path: '/api/v1/schedules' },
  retrieveSchedule: { method: 'GET', path: '/api/v1/schedules/:scheduleId' },
  updateSchedule: { method: 'PUT', path: '/api/v1/schedules/:scheduleId' },
  deleteSchedule: { method: 'DELETE', path: '/api/v1/schedules/:scheduleId' },
  activateSchedule: { method: 'POST', path: '/api/v1/schedules/:scheduleId/activate' },
  deactivateSchedule: { method: 'POST', path: '/api/v1/schedules/:scheduleId/deactivate' },
  previewSchedule: { method: 'GET', path: '/api/v1/schedules/:scheduleId/preview' },
  backfillSchedule: { method: 'POST', path: '/api/v1/schedules/:scheduleId/backfill' },
  listTimezones: { method: 'GET', path: '/api/v1/timezones' },
  sendEvent: { method: 'POST', path: '/api/v1/events' },
  sendEvents: { method: 'POST', path: '/api/v1/event-batches' },
  listEvents: { method: 'GET', path: '/api/v1/events' },
  retrieveEvent: { method: 'GET', path: '/api/v1/events/:eventId' },
  replayEvent: { method: 'POST', path: '/api/v1/events/:eventId/replay' },
  cancelEvent: { method: 'POST', path: '/api/v1/events/:eventId/cancel' },
};

export type QueryValue = string | number | undefined;

/** The path of an operation with its parameters filled in, and the query appended. */
export function pathOf(
  operation: Called,
  params: Readonly<Record<string, string>> = {},
  query?: Readonly<Record<string, QueryValue>>,
): string {
  const path = routes[operation].path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(
        `${name} must be a non-empty string; got ${value === '' ? 'an empty one' : typeof value}`,
      );
    }
    return encodeURIComponent(value);
  });
  if (!query) return path;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size > 0 ? `${path}?${search.toString()}` : path;
}
