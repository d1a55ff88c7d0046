import type { OperationDeclaration, Operations } from '@millrace/contract';

/** The operations that this SDK calls. */
export type Called =
  | 'triggerTask'
  | 'triggerMany'
  | 'resetIdempotencyKey'
  | 'createBatch'
  | 'addBatchItems'
  | 'retrieveBatch'
  | 'retrieveRun'
  | 'cancelRun'
  | 'listRunLogs'
  | 'listRunSpans'
  | 'searchLogs'
  | 'followLogs'
  | 'followRunLogs'
  | 'listRuns'
  | 'countRuns'
  | 'listTasks'
  | 'retrieveTask'
  | 'listProjectRuns'
  | 'declareRunPath'
  | 'listRunPaths'
  | 'removeRunPath'
  | 'replayRun'
  | 'rescheduleRun'
  | 'addRunTags'
  | 'retrieveRunMetadata'
  | 'updateRunMetadata'
  | 'retrieveRunReason'
  | 'retrieveStats'
  | 'listRunAttempts'
  | 'listRunSteps'
  | 'loadRunSteps'
  | 'storeRunStep'
  | 'retrieveRunTimeline'
  | 'retrieveRunResult'
  | 'listBatches'
  | 'listBatchResults'
  | 'createWaitpointToken'
  | 'listWaitpointTokens'
  | 'retrieveWaitpointToken'
  | 'completeWaitpointToken'
  | 'createPacket'
  | 'createBulkAction'
  | 'listBulkActions'
  | 'retrieveBulkAction'
  | 'abortBulkAction'
  | 'retrievePacket'
  | 'listQueues'
  | 'retrieveQueue'
  | 'pauseQueue'
  | 'overrideQueueConcurrency'
  | 'resetQueueConcurrency'
  | 'overrideQueueRateLimit'
  | 'resetQueueRateLimit'
  | 'setQueueKeyWeight'
  | 'listKeyWeights'
  | 'listSharedLimits'
  | 'overrideSharedLimit'
  | 'resetSharedLimit'
  | 'retrieveConcurrency'
  | 'updateConcurrency'
  | 'listErrors'
  | 'retrieveError'
  | 'resolveError'
  | 'ignoreError'
  | 'unresolveError'
  | 'listErrorFingerprints'
  | 'listErrorHistory'
  | 'mergeErrors'
  | 'splitError'
  | 'listErrorRules'
  | 'createErrorRule'
  | 'previewErrorRule'
  | 'updateErrorRule'
  | 'deleteErrorRule'
  | 'createPublicToken'
  | 'listVariables'
  | 'retrieveVariable'
  | 'createVariable'
  | 'updateVariable'
  | 'deleteVariable'
  | 'importVariables'
  | 'readVariables'
  | 'whoami'
  | 'listBranches'
  | 'createBranch'
  | 'archiveBranch'
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
  | 'listScheduleTicks'
  | 'backfillSchedule'
  | 'listTimezones'
  | 'sendEvent'
  | 'sendEvents'
  | 'listEvents'
  | 'retrieveEvent'
  | 'replayEvent'
  | 'cancelEvent'
  | 'createSession'
  | 'listSessions'
  | 'retrieveSession'
  | 'updateSession'
  | 'closeSession'
  | 'continueSession'
  | 'appendToSessionIn'
  | 'writeSessionOut'
  | 'lookAtSessionOut'
  | 'subscribeToSessionIn'
  | 'subscribeToSessionOut'
  | 'listSessionInRecords'
  | 'listSessionOutRecords'
  | 'writeRunStream'
  | 'followRunStream'
  | 'createNotificationEndpoint'
  | 'listNotificationEndpoints'
  | 'updateNotificationEndpoint'
  | 'deleteNotificationEndpoint'
  | 'testNotificationEndpoint'
  | 'listNotificationDeliveries'
  | 'retrieveNotificationDelivery'
  | 'replayNotificationDelivery'
  | 'createAlert'
  | 'listAlerts'
  | 'retrieveAlert'
  | 'updateAlert'
  | 'deleteAlert'
  | 'listDeployments'
  | 'retrieveDeployment'
  | 'retrieveSource'
  | 'retrieveCurrentDeployment'
  | 'retrieveLatestDeployment'
  | 'promoteDeployment'
  | 'abortCanary'
  | 'moveDeployment'
  | 'archiveDeployment'
  | 'followRun'
  | 'followRuns'
  | 'followBatch';

type Route<D extends OperationDeclaration> = Pick<D, 'method' | 'path'>;

/**
 * Where each operation is. Written again here because the contract brings zod with it, which this package must not load;
 * the types come from the contract, so a route that differs does not compile.
 */
export const routes: { readonly [K in Called]: Route<Operations[K]> } = {
  triggerTask: { method: 'POST', path: '/api/v1/tasks/:taskId/trigger' },
  triggerMany: { method: 'POST', path: '/api/v1/tasks/trigger-many' },
  resetIdempotencyKey: { method: 'POST', path: '/api/v1/idempotencyKeys/:key/reset' },
  createBatch: { method: 'POST', path: '/api/v3/batches' },
  addBatchItems: { method: 'POST', path: '/api/v3/batches/:batchId/items' },
  retrieveBatch: { method: 'GET', path: '/api/v2/batches/:batchId' },
  retrieveRun: { method: 'GET', path: '/api/v3/runs/:runId' },
  cancelRun: { method: 'POST', path: '/api/v2/runs/:runId/cancel' },
  listRunLogs: { method: 'GET', path: '/api/v1/runs/:runId/logs' },
  countRuns: { method: 'GET', path: '/api/v1/runs/count' },
  listTasks: { method: 'GET', path: '/api/v1/tasks' },
  retrieveTask: { method: 'GET', path: '/api/v1/tasks/:taskId' },
  listRunSpans: { method: 'GET', path: '/api/v1/runs/:runId/spans' },
  searchLogs: { method: 'GET', path: '/api/v1/logs' },
  followLogs: { method: 'GET', path: '/realtime/v1/logs/events' },
  followRunLogs: { method: 'GET', path: '/realtime/v1/runs/:runId/logs/events' },
  listRuns: { method: 'GET', path: '/api/v1/runs' },
  listProjectRuns: { method: 'GET', path: '/api/v1/projects/:projectRef/runs' },
  declareRunPath: { method: 'POST', path: '/api/v1/run-paths' },
  listRunPaths: { method: 'GET', path: '/api/v1/run-paths' },
  removeRunPath: { method: 'DELETE', path: '/api/v1/run-paths/:path' },
  replayRun: { method: 'POST', path: '/api/v1/runs/:runId/replay' },
  rescheduleRun: { method: 'POST', path: '/api/v1/runs/:runId/reschedule' },
  addRunTags: { method: 'POST', path: '/api/v1/runs/:runId/tags' },
  retrieveRunMetadata: { method: 'GET', path: '/api/v1/runs/:runId/metadata' },
  updateRunMetadata: { method: 'PUT', path: '/api/v1/runs/:runId/metadata' },
  retrieveRunResult: { method: 'GET', path: '/api/v1/runs/:runId/result' },
  listBatches: { method: 'GET', path: '/api/v1/batches' },
  listBatchResults: { method: 'GET', path: '/api/v1/batches/:batchId/results' },
  createWaitpointToken: { method: 'POST', path: '/api/v1/waitpoints/tokens' },
  listWaitpointTokens: { method: 'GET', path: '/api/v1/waitpoints/tokens' },
  retrieveWaitpointToken: { method: 'GET', path: '/api/v1/waitpoints/tokens/:waitpointId' },
  completeWaitpointToken: { method: 'POST', path: '/api/v1/waitpoints/tokens/:waitpointId/complete' },
  retrieveStats: { method: 'GET', path: '/api/v1/stats' },
  listRunAttempts: { method: 'GET', path: '/api/v1/runs/:runId/attempts' },
  listRunSteps: { method: 'GET', path: '/api/v1/runs/:runId/steps' },
  loadRunSteps: { method: 'GET', path: '/api/v1/runs/:runId/steps/results' },
  storeRunStep: { method: 'PUT', path: '/api/v1/runs/:runId/steps' },
  retrieveRunTimeline: { method: 'GET', path: '/api/v1/runs/:runId/timeline' },
  retrieveRunReason: { method: 'GET', path: '/api/v1/runs/:runId/reason' },
  createBulkAction: { method: 'POST', path: '/api/v1/bulk-actions' },
  listBulkActions: { method: 'GET', path: '/api/v1/bulk-actions' },
  retrieveBulkAction: { method: 'GET', path: '/api/v1/bulk-actions/:bulkActionId' },
  abortBulkAction: { method: 'POST', path: '/api/v1/bulk-actions/:bulkActionId/abort' },
  createPacket: { method: 'PUT', path: '/api/v2/packets/:packet' },
  retrievePacket: { method: 'GET', path: '/api/v1/packets/:packet' },
  listQueues: { method: 'GET', path: '/api/v1/queues' },
  retrieveQueue: { method: 'GET', path: '/api/v1/queues/:queue' },
  pauseQueue: { method: 'POST', path: '/api/v1/queues/:queue/pause' },
  overrideQueueConcurrency: { method: 'POST', path: '/api/v1/queues/:queue/concurrency/override' },
  resetQueueConcurrency: { method: 'POST', path: '/api/v1/queues/:queue/concurrency/reset' },
  overrideQueueRateLimit: { method: 'POST', path: '/api/v1/queues/:queue/rate-limit/override' },
  resetQueueRateLimit: { method: 'POST', path: '/api/v1/queues/:queue/rate-limit/reset' },
  setQueueKeyWeight: { method: 'POST', path: '/api/v1/queues/:queue/key-weight' },
  listKeyWeights: { method: 'GET', path: '/api/v1/key-weights' },
  listSharedLimits: { method: 'GET', path: '/api/v1/shared-limits' },
  overrideSharedLimit: { method: 'POST', path: '/api/v1/shared-limits/:name/override' },
  resetSharedLimit: { method: 'POST', path: '/api/v1/shared-limits/:name/reset' },
  retrieveConcurrency: { method: 'GET', path: '/api/v1/concurrency' },
  updateConcurrency: { method: 'PUT', path: '/api/v1/concurrency' },
  listErrors: { method: 'GET', path: '/api/v1/errors' },
  retrieveError: { method: 'GET', path: '/api/v1/errors/:errorId' },
  resolveError: { method: 'POST', path: '/api/v1/errors/:errorId/resolve' },
  ignoreError: { method: 'POST', path: '/api/v1/errors/:errorId/ignore' },
  unresolveError: { method: 'POST', path: '/api/v1/errors/:errorId/unresolve' },
  listErrorFingerprints: { method: 'GET', path: '/api/v1/errors/:errorId/fingerprints' },
  listErrorHistory: { method: 'GET', path: '/api/v1/errors/:errorId/history' },
  mergeErrors: { method: 'POST', path: '/api/v1/errors/:errorId/merge' },
  splitError: { method: 'POST', path: '/api/v1/errors/:errorId/split' },
  listErrorRules: { method: 'GET', path: '/api/v1/projects/:projectRef/error-rules' },
  createErrorRule: { method: 'POST', path: '/api/v1/projects/:projectRef/error-rules' },
  previewErrorRule: { method: 'POST', path: '/api/v1/projects/:projectRef/error-rules/preview' },
  updateErrorRule: { method: 'PATCH', path: '/api/v1/projects/:projectRef/error-rules/:ruleId' },
  deleteErrorRule: { method: 'DELETE', path: '/api/v1/projects/:projectRef/error-rules/:ruleId' },
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
  listScheduleTicks: { method: 'GET', path: '/api/v1/schedules/:scheduleId/ticks' },
  backfillSchedule: { method: 'POST', path: '/api/v1/schedules/:scheduleId/backfill' },
  listTimezones: { method: 'GET', path: '/api/v1/timezones' },
  sendEvent: { method: 'POST', path: '/api/v1/events' },
  sendEvents: { method: 'POST', path: '/api/v1/event-batches' },
  listEvents: { method: 'GET', path: '/api/v1/events' },
  retrieveEvent: { method: 'GET', path: '/api/v1/events/:eventId' },
  replayEvent: { method: 'POST', path: '/api/v1/events/:eventId/replay' },
  cancelEvent: { method: 'POST', path: '/api/v1/events/:eventId/cancel' },
  createSession: { method: 'POST', path: '/api/v1/sessions' },
  listSessions: { method: 'GET', path: '/api/v1/sessions' },
  retrieveSession: { method: 'GET', path: '/api/v1/sessions/:session' },
  updateSession: { method: 'PATCH', path: '/api/v1/sessions/:session' },
  closeSession: { method: 'POST', path: '/api/v1/sessions/:session/close' },
  continueSession: { method: 'POST', path: '/api/v1/sessions/:session/end-and-continue' },
  appendToSessionIn: { method: 'POST', path: '/realtime/v1/sessions/:session/in/append' },
  writeSessionOut: { method: 'POST', path: '/realtime/v1/sessions/:session/out/records' },
  lookAtSessionOut: { method: 'HEAD', path: '/realtime/v1/sessions/:session/out' },
  subscribeToSessionIn: { method: 'GET', path: '/realtime/v1/sessions/:session/in' },
  subscribeToSessionOut: { method: 'GET', path: '/realtime/v1/sessions/:session/out' },
  listSessionInRecords: { method: 'GET', path: '/realtime/v1/sessions/:session/in/records' },
  listSessionOutRecords: { method: 'GET', path: '/realtime/v1/sessions/:session/out/records' },
  writeRunStream: { method: 'POST', path: '/realtime/v1/streams/:runId/:target/:stream/records' },
  followRunStream: { method: 'GET', path: '/realtime/v1/streams/:runId/:stream' },
  listBranches: { method: 'GET', path: '/api/v1/projects/:projectRef/branches' },
  createBranch: { method: 'POST', path: '/api/v1/projects/:projectRef/branches' },
  archiveBranch: { method: 'POST', path: '/api/v1/projects/:projectRef/branches/archive' },
  createNotificationEndpoint: {
    method: 'POST',
    path: '/api/v1/projects/:projectRef/notifications/:env/endpoints',
  },
  listNotificationEndpoints: {
    method: 'GET',
    path: '/api/v1/projects/:projectRef/notifications/:env/endpoints',
  },
  updateNotificationEndpoint: {
    method: 'PATCH',
    path: '/api/v1/projects/:projectRef/notifications/:env/endpoints/:endpointId',
  },
  deleteNotificationEndpoint: {
    method: 'DELETE',
    path: '/api/v1/projects/:projectRef/notifications/:env/endpoints/:endpointId',
  },
  testNotificationEndpoint: {
    method: 'POST',
    path: '/api/v1/projects/:projectRef/notifications/:env/endpoints/:endpointId/test',
  },
  listNotificationDeliveries: {
    method: 'GET',
    path: '/api/v1/projects/:projectRef/notifications/:env/deliveries',
  },
  retrieveNotificationDelivery: {
    method: 'GET',
    path: '/api/v1/projects/:projectRef/notifications/:env/deliveries/:deliveryId',
  },
  replayNotificationDelivery: {
    method: 'POST',
    path: '/api/v1/projects/:projectRef/notifications/:env/deliveries/:deliveryId/replay',
  },
  createAlert: { method: 'POST', path: '/api/v1/projects/:projectRef/alerts/:env' },
  listAlerts: { method: 'GET', path: '/api/v1/projects/:projectRef/alerts/:env' },
  retrieveAlert: { method: 'GET', path: '/api/v1/projects/:projectRef/alerts/:env/:alertId' },
  updateAlert: { method: 'PATCH', path: '/api/v1/projects/:projectRef/alerts/:env/:alertId' },
  deleteAlert: { method: 'DELETE', path: '/api/v1/projects/:projectRef/alerts/:env/:alertId' },
  listDeployments: { method: 'GET', path: '/api/v1/deployments' },
  retrieveDeployment: { method: 'GET', path: '/api/v1/deployments/:version' },
  retrieveSource: { method: 'GET', path: '/api/v1/deployments/:version/source' },
  retrieveCurrentDeployment: { method: 'GET', path: '/api/v1/deployments/current' },
  retrieveLatestDeployment: { method: 'GET', path: '/api/v1/deployments/latest' },
  promoteDeployment: { method: 'POST', path: '/api/v1/deployments/:version/promote' },
  abortCanary: { method: 'POST', path: '/api/v1/deployments/:version/abort-canary' },
  moveDeployment: { method: 'POST', path: '/api/v1/deployments/:version/move' },
  archiveDeployment: { method: 'POST', path: '/api/v1/deployments/:version/archive' },
  followRun: { method: 'GET', path: '/realtime/v1/runs/:runId/events' },
  followRuns: { method: 'GET', path: '/realtime/v1/runs/events' },
  followBatch: { method: 'GET', path: '/realtime/v1/batches/:batchId/events' },
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
