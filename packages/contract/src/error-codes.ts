/** The codes of error responses, for programs: they do not change when a message is reworded. docs/error-codes.md lists them. */

/** The header of every error response with its code. Bodies have the format that published clients expect, and few of them contain a code. */
export const errorCodeHeader = 'x-millrace-error-code';

interface Entry {
  /** The status of the response. If there are several, the first is the usual one. */
  readonly statuses: readonly [number, ...number[]];
  /** When it is sent, in one sentence. */
  readonly meaning: string;
}

const listed = <Code extends string>(entries: Record<Code, Entry>): Readonly<Record<Code, Entry>> => entries;

/** Every code of an error response. A failure that a client may handle specially has its own code; the others have that of their status. */
export const errorCodes = listed({
  invalid_request: {
    statuses: [400],
    meaning: 'A parameter, a header or the body cannot be read, or does not have the declared form.',
  },
  login_expired: {
    statuses: [400],
    meaning: 'A login with the identity provider was finished already, took too long, or began elsewhere.',
  },
  invalid_credential: {
    statuses: [401],
    meaning: 'The credential is missing, unknown, expired or revoked.',
  },
  credential_not_accepted: {
    statuses: [401],
    meaning: 'The credential is valid, but this operation accepts other kinds only.',
  },
  branch_required: {
    statuses: [401],
    meaning: 'A key of preview was sent without the header `x-service-branch`.',
  },
  unauthorized: {
    statuses: [403],
    meaning: 'The scopes or the role of the credential do not allow the operation.',
  },
  scopes_exceed_key_access: {
    statuses: [403],
    meaning: 'A public token was requested with scopes that its key does not have.',
  },
  restricted_variable: {
    statuses: [403],
    meaning: 'An environment variable that can run code may only be changed by administrators.',
  },
  cross_site: { statuses: [403], meaning: 'The request was not sent by the dashboard of this server.' },
  invalid_signature: { statuses: [403], meaning: 'A signed address has expired or was changed.' },
  login_refused: {
    statuses: [403],
    meaning: 'The identity provider, or the groups of the user, do not allow the login.',
  },
  not_found: {
    statuses: [404],
    meaning: 'The object that the request names does not exist in this environment.',
  },
  route_not_found: { statuses: [404], meaning: 'The server has no operation at this path.' },
  organization_not_found: {
    statuses: [404],
    meaning: 'The organization does not exist, or the user is not a member.',
  },
  project_not_found: { statuses: [404], meaning: 'The project does not exist, or the user is not a member.' },
  environment_not_found: { statuses: [404], meaning: 'The project has no such environment.' },
  branch_not_found: {
    statuses: [404, 401],
    meaning: 'The environment has no such branch, or it is archived.',
  },
  run_not_found: { statuses: [404, 422], meaning: 'The environment has no such run, or it was deleted.' },
  run_not_finished: { statuses: [404], meaning: 'The run has no result yet, or does not exist.' },
  session_not_found: { statuses: [404], meaning: 'The environment has no such session.' },
  task_not_found: { statuses: [404, 422], meaning: 'No version of the environment has the task.' },
  version_not_found: { statuses: [404, 422], meaning: 'The environment has no such version.' },
  no_current_version: { statuses: [404], meaning: 'The environment has no current version.' },
  method_not_allowed: { statuses: [405], meaning: 'The path has operations, but none with this method.' },
  attempt_ended: { statuses: [409], meaning: 'The attempt of the run that sent the request has ended.' },
  parent_would_wait_for_itself: {
    statuses: [409],
    meaning: 'A run would wait for the singleton that it, or a run above it, is.',
  },
  session_closed: { statuses: [409, 400], meaning: 'The session, or its channel, is closed.' },
  session_expired: { statuses: [409, 400], meaning: 'The session, or its channel, has expired.' },
  external_id_taken: { statuses: [409], meaning: 'Another session of another task has the external id.' },
  branch_has_runs: { statuses: [409], meaning: 'The branch has runs that have not ended.' },
  missed_ticks: {
    statuses: [409],
    meaning: 'Ticks of schedules fell due during the pause: the request must say what becomes of them.',
  },
  version_not_loaded: {
    statuses: [409],
    meaning: 'No connected runner has loaded the version yet; one may soon.',
  },
  version_not_served: {
    statuses: [409],
    meaning: 'No connected runner has loaded the version, which was not uploaded.',
  },
  version_not_ready: {
    statuses: [409, 422],
    meaning: 'The version is still being uploaded, has failed or is archived.',
  },
  version_outdated: {
    statuses: [409],
    meaning: 'The version is older than the current one, and the request does not allow rollbacks.',
  },
  version_in_use: {
    statuses: [409],
    meaning: 'The version is current, the canary, or runs are bound to it.',
  },
  deployment_finalized: { statuses: [409], meaning: 'The deployment has been finalized, so it cannot fail.' },
  canary_conflict: { statuses: [409], meaning: 'The version is not the canary, or another version is.' },
  tasks_missing: { statuses: [409], meaning: 'The version lacks tasks of the runs that would move to it.' },
  blob_missing: {
    statuses: [409],
    meaning: 'Contents of the deployment have not been uploaded, or were removed.',
  },
  blob_offset: {
    statuses: [409],
    meaning: 'The server has another number of bytes of the blob: `received` in the body.',
  },
  packet_exists: { statuses: [409], meaning: 'There is a packet of this name already.' },
  event_delivered: { statuses: [409], meaning: 'The event has been delivered, or delivery has failed.' },
  endpoint_disabled: { statuses: [409], meaning: 'The notification endpoint is disabled.' },
  endpoint_in_use: { statuses: [409], meaning: 'An alert sends to the notification endpoint.' },
  append_conflict: {
    statuses: [412],
    meaning: 'The tail or the fencing token of the channel is not the one that the append requires.',
  },
  too_large: { statuses: [413], meaning: 'The body, or a part of it, is larger than allowed.' },
  unsupported_media_type: {
    statuses: [415],
    meaning: 'The server does not read this `Content-Type` or `Content-Encoding`.',
  },
  range_not_satisfiable: { statuses: [416], meaning: 'The range begins behind the end of the content.' },
  unprocessable: {
    statuses: [422],
    meaning: 'The request has the declared form, but a value in it is not acceptable.',
  },
  invalid_task: {
    statuses: [422, 400],
    meaning: 'A task of the version is declared wrongly: `task` in the body is its id.',
  },
  limit_reached: { statuses: [422], meaning: 'There are as many objects of this kind as allowed.' },
  token_used: { statuses: [422], meaning: 'The one-time token has been used.' },
  run_canceled: {
    statuses: [422],
    meaning: 'The parent run has been canceled, so it triggers no more runs.',
  },
  run_ended: {
    statuses: [422],
    meaning: 'The run has ended, and the operation changes only runs that have not.',
  },
  run_not_delayed: { statuses: [422], meaning: 'The run is not waiting for its delay any more.' },
  batch_aborted: {
    statuses: [422],
    meaning: 'The batch was given up because its items did not arrive in time.',
  },
  rate_limited: {
    statuses: [429],
    meaning:
      'The caller has sent too many requests, or created too many runs; `Retry-After` or the message has the time of the next attempt.',
  },
  trigger_limit_exceeded: {
    statuses: [429],
    meaning: "The task's trigger limit is used up until `retryAt` in the body.",
  },
  too_many_subscribers: { statuses: [429], meaning: 'As many live subscriptions are open as allowed.' },
  internal_error: {
    statuses: [500],
    meaning: 'The server failed; its log has the error under `x-request-id`.',
  },
  not_supported: { statuses: [501], meaning: 'This server is not configured for the operation.' },
  identity_provider_failed: {
    statuses: [502],
    meaning:
      'The identity provider does not accept this server: an administrator must correct the configuration.',
  },
  unavailable: {
    statuses: [503],
    meaning: 'The server, its database or its store cannot serve the request now; a retry may succeed.',
  },
  overloaded: {
    statuses: [503],
    meaning:
      'The request was rejected before it was executed, because others were waiting for too long; retry it.',
  },
});

/** One of the listed codes. */
export type ErrorCode = keyof typeof errorCodes;
