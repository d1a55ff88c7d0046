/** The codes of error responses, for programs: they do not change when a message is reworded. docs/error-codes.md lists them. */

/**
 * The header of every error response with its code. Bodies have the format that published clients expect, and most of them do not contain a
 * code.
 */
export const errorCodeHeader = 'x-millrace-error-code';

interface Entry {
  /** The status of the response. If there are several, the first is the usual one. */
  readonly statuses: readonly [number, ...number[]];
  /** When it is sent, in one sentence. */
  readonly meaning: string;
}

const listed = <Code extends string>(entries: Record<Code, Entry>): Readonly<Record<Code, Entry>> => entries;

/** Every code of an error response. A failure that a client may handle specially has its own code; the others have that of their status. */
export const errorCodes = /* @__PURE__ */ listed({
  invalid_request: {
    statuses: [400],
    meaning: 'A parameter, a header or the body cannot be parsed, or does not match its schema.',
  },
  webhook_timestamp_invalid: {
    statuses: [400],
    meaning:
      'The signed time of a request to a webhook is more than five minutes from the time of the server: the request is old, or it is replayed.',
  },
  login_expired: {
    statuses: [400],
    meaning:
      'The login with the identity provider has already been completed, took too long, or began in another browser.',
  },
  invalid_credential: {
    statuses: [401],
    meaning: 'The credential is missing, unknown, expired or revoked.',
  },
  credential_not_accepted: {
    statuses: [401],
    meaning: 'The credential is valid, but this operation requires another type.',
  },
  webhook_signature_missing: {
    statuses: [401],
    meaning: 'A request to a webhook lacks a header that the signature scheme requires.',
  },
  webhook_signature_invalid: {
    statuses: [401],
    meaning: 'The signature of a request to a webhook matches none of the secrets of the webhook.',
  },
  branch_required: {
    statuses: [401],
    meaning: 'A preview key was sent without the header `x-service-branch`.',
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
    meaning: 'Only administrators may change environment variables that can run code.',
  },
  cross_site: { statuses: [403], meaning: 'The request was not sent by the dashboard of this server.' },
  invalid_signature: { statuses: [403], meaning: 'A signed URL has expired or was modified.' },
  login_refused: {
    statuses: [403],
    meaning: "The identity provider or the user's groups do not allow the login.",
  },
  not_found: {
    statuses: [404],
    meaning: 'The requested object does not exist in this environment.',
  },
  webhook_not_found: {
    statuses: [404],
    meaning: 'The current version of the environment has no webhook with this address.',
  },
  route_not_found: { statuses: [404], meaning: 'No operation has this path.' },
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
    meaning: 'The run would wait for a singleton that is the run itself or one of its ancestors.',
  },
  session_closed: { statuses: [409, 400], meaning: 'The session, or its channel, is closed.' },
  session_expired: { statuses: [409, 400], meaning: 'The session, or its channel, has expired.' },
  external_id_taken: { statuses: [409], meaning: 'A session of another task has the same external id.' },
  branch_has_runs: { statuses: [409], meaning: 'The branch has runs that have not ended.' },
  missed_ticks: {
    statuses: [409],
    meaning:
      'Schedule ticks became due during the pause: the request must specify whether to skip or fire them.',
  },
  version_not_loaded: {
    statuses: [409],
    meaning: 'No connected runner has loaded the version yet; retry later.',
  },
  version_not_served: {
    statuses: [409],
    meaning: 'The version was registered without an upload, and no connected runner has loaded it.',
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
    meaning: 'The version is current or the canary, or runs are bound to it.',
  },
  deployment_finalized: { statuses: [409], meaning: 'The deployment has been finalized, so it cannot fail.' },
  canary_conflict: { statuses: [409], meaning: 'The version is not the canary, or another version is.' },
  tasks_missing: { statuses: [409], meaning: 'The version lacks tasks of the runs that would move to it.' },
  blob_missing: {
    statuses: [409],
    meaning: 'Files of the deployment have not been uploaded, or were removed.',
  },
  blob_offset: {
    statuses: [409],
    meaning: 'The upload offset is wrong: `received` in the body is the number of bytes that the server has.',
  },
  packet_exists: { statuses: [409], meaning: 'A packet with this name already exists.' },
  event_delivered: { statuses: [409], meaning: 'The event has been delivered, or delivery has failed.' },
  endpoint_disabled: { statuses: [409], meaning: 'The notification endpoint is disabled.' },
  endpoint_in_use: { statuses: [409], meaning: 'An alert sends to the notification endpoint.' },
  append_conflict: {
    statuses: [412],
    meaning: 'The tail or the fencing token of the channel differs from that in the request.',
  },
  too_large: { statuses: [413], meaning: 'The body, or a part of it, is larger than allowed.' },
  unsupported_media_type: {
    statuses: [415],
    meaning: 'The server does not read this `Content-Type` or `Content-Encoding`.',
  },
  range_not_satisfiable: { statuses: [416], meaning: 'The range begins after the end of the content.' },
  unprocessable: {
    statuses: [422],
    meaning: 'The request matches its schema, but contains an invalid value.',
  },
  invalid_task: {
    statuses: [422, 400],
    meaning: 'A task of the version has an invalid declaration: `task` in the body is its id.',
  },
  limit_reached: { statuses: [422], meaning: 'The maximum number of objects of this type exists.' },
  token_used: { statuses: [422], meaning: 'The one-time token has been used.' },
  run_canceled: {
    statuses: [422],
    meaning: 'The parent run has been canceled, so it cannot trigger runs.',
  },
  run_ended: {
    statuses: [422],
    meaning: 'The run has ended, and the operation requires a run that has not.',
  },
  run_erased: {
    statuses: [422],
    meaning: 'The data of the run, event or delivery was erased, so it cannot be replayed.',
  },
  run_not_delayed: { statuses: [422], meaning: 'The run is no longer delayed.' },
  batch_aborted: {
    statuses: [422],
    meaning: 'The batch was aborted because its items did not arrive in time.',
  },
  rate_limited: {
    statuses: [429],
    meaning:
      'The caller has sent too many requests, or created too many runs; `Retry-After` or the message contains the time of the next attempt.',
  },
  trigger_limit_exceeded: {
    statuses: [429],
    meaning: "The task's trigger limit is exceeded until `retryAt` in the body.",
  },
  too_many_subscribers: { statuses: [429], meaning: 'The maximum number of live subscriptions is open.' },
  internal_error: {
    statuses: [500],
    meaning: 'The server failed. Find the error in its log by `x-request-id`.',
  },
  not_supported: { statuses: [501], meaning: 'This server is not configured for the operation.' },
  identity_provider_failed: {
    statuses: [502],
    meaning: 'The identity provider rejected this server: an administrator must correct the configuration.',
  },
  webhook_secret_missing: {
    statuses: [503],
    meaning:
      'None of the environment variables with the secret of the webhook is set, so that no request can be verified.',
  },
  unavailable: {
    statuses: [503],
    meaning: 'The server, its database or its bundle store is temporarily unavailable; a retry may succeed.',
  },
  overloaded: {
    statuses: [503],
    meaning:
      'The server is overloaded, and rejected the request before it was executed; a retry may succeed.',
  },
});

/** One of the listed codes. */
export type ErrorCode = keyof typeof errorCodes;
