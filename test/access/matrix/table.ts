/**
 * Who may call what, written by hand from the specification (its tables under Authentication) and from the contract (2.3 to 2.8,
 * 3 to 9, 12), never from the code: the matrix compares a running server with it. A route that is missing here fails the test.
 *
 * Columns: the route; what a secret key or public token must be granted (`rules.ts` says what each word asks for); whether secret keys
 * are accepted (`not in runs`: 403 for the credential of a run's attempt); whether public tokens are (`403`: known, and refused for what they ask); the least role of a personal access token's user
 * (`own`: whoever it is; `x/y`: y where the environment is the user's own dev; `installation`: an owner of the first organisation).
 */
const text = `
# Triggering: specification, operation table; contract 3
POST   /api/v1/tasks/{taskId}/trigger                                    | trigger task        | key | token | -
POST   /api/v1/tasks/trigger-many                                        | trigger task        | key | token | -
GET    /api/v1/tasks                                                     | read tasks          | key | -     | -
GET    /api/v1/tasks/{taskId}                                            | read task           | key | -     | -
POST   /api/v1/idempotencyKeys/{key}/reset                               | write runs          | key | token | -
POST   /api/v3/batches                                                   | open batch          | key | token | -
POST   /api/v3/batches/{batchId}/items                                   | fill batch          | key | token | -
POST   /api/v2/tasks/batch                                               | open batch          | key | token | -
GET    /api/v2/batches/{batchId}                                         | read batch          | key | token | -
GET    /api/v1/batches                                                   | list batches        | key | -     | -
GET    /api/v1/batches/{batchId}                                         | read batch          | key | token | -
GET    /api/v1/batches/{batchId}/results                                 | read batch          | key | -     | -
PUT    /api/v2/packets/{packet}                                          | trigger some        | key | token | -
PUT    /api/v1/packets/{packet}                                          | trigger some        | key | token | -

# Runs: specification, operation table; contract 2.4, 4
GET    /api/v3/runs/{runId}                                              | read run            | key | token | -
POST   /api/v2/runs/{runId}/cancel                                       | write run           | key | token | -
GET    /api/v1/runs/{runId}/logs                                         | read run            | key | token | -
GET    /api/v1/runs/{runId}/spans                                        | read run            | key | token | -
GET    /api/v1/logs                                                      | read runs           | key | -     | -
GET    /realtime/v1/logs/events                                          | read runs           | key | -     | -
GET    /realtime/v1/runs/{runId}/logs/events                             | read run            | key | token | -
GET    /api/v1/runs                                                      | list runs           | key | token | -
GET    /api/v1/runs/count                                                | list runs           | key | token | -
GET    /api/v1/projects/{projectRef}/runs                                | -                   | -   | -     | viewer
POST   /api/v1/runs/{runId}/replay                                       | write run           | key | -     | -
POST   /api/v1/runs/{runId}/reschedule                                   | write run           | key | -     | -
POST   /api/v1/runs/{runId}/tags                                         | write run           | key | -     | -
GET    /api/v1/runs/{runId}/metadata                                     | read run            | key | -     | -
PUT    /api/v1/runs/{runId}/metadata                                     | write run           | key | -     | -
GET    /api/v1/runs/{runId}/result                                       | read run            | key | -     | -
GET    /api/v1/runs/{runId}/events                                       | read run            | key | token | -
GET    /api/v1/runs/{runId}/trace                                        | read run            | key | token | -
GET    /api/v1/runs/{runId}/reason                                       | read run            | key | token | -
GET    /api/v1/runs/{runId}/attempts                                     | read run            | key | token | -
GET    /api/v1/runs/{runId}/timeline                                     | read run            | key | token | -
GET    /api/v1/runs/{runId}/packets/{field}                              | read run            | key | token | -
GET    /api/v1/stats                                                     | read runs           | key | -     | -
POST   /api/v1/run-paths                                                 | write runs          | key, not in runs | -     | -
GET    /api/v1/run-paths                                                 | read runs           | key | -     | -
DELETE /api/v1/run-paths/{path}                                          | write runs          | key, not in runs | -     | -
GET    /api/v1/retention                                                 | read runs           | key | -     | -
PUT    /api/v1/retention                                                 | admin               | key, not in runs | -     | -
POST   /api/v1/bulk-actions                                              | write runs          | key | -     | -
GET    /api/v1/bulk-actions                                              | read runs           | key | -     | -
GET    /api/v1/bulk-actions/{bulkActionId}                               | read runs           | key | -     | -
POST   /api/v1/bulk-actions/{bulkActionId}/abort                         | write runs          | key | -     | -

# Live subscriptions and streams of runs: contract 2.4, 4.7, 12
GET    /realtime/v1/runs/{runId}                                         | read run            | key | token | -
GET    /realtime/v1/runs                                                 | read tagged         | key | token | -
GET    /realtime/v1/batches/{batchId}                                    | read batch          | key | token | -
GET    /realtime/v1/runs/{runId}/events                                  | read run            | key | token | -
GET    /realtime/v1/runs/events                                          | read tagged         | key | token | -
GET    /realtime/v1/batches/{batchId}/events                             | read batch          | key | token | -
PUT    /realtime/v1/streams/{runId}/{target}/{stream}                    | write run           | key, not in runs | -     | -
POST   /realtime/v1/streams/{runId}/{target}/{stream}/append             | write run           | key | -     | -
POST   /realtime/v1/streams/{runId}/{target}/{stream}/records            | write run           | key | -     | -
GET    /realtime/v1/streams/{runId}/{stream}                             | read run            | key | token | -
GET    /api/v1/packets/{packet}                                          | read packet         | key | token | -
GET    /api/v2/packets/{packet}                                          | read packet         | key | token | -

# Queues, waits: contract 12
GET    /api/v1/queues                                                    | read queues         | key | -     | -
GET    /api/v1/queues/{queue}                                            | read queues         | key | -     | -
POST   /api/v1/queues/{queue}/pause                                      | write queues        | key | -     | -
POST   /api/v1/queues/{queue}/concurrency/override                       | write queues        | key | -     | -
POST   /api/v1/queues/{queue}/concurrency/reset                          | write queues        | key | -     | -
GET    /api/v1/concurrency                                               | read queues         | key | -     | -
PUT    /api/v1/concurrency                                               | write queues        | key | -     | -
POST   /api/v1/waitpoints/tokens                                         | write waitpoints    | key | token | -
GET    /api/v1/waitpoints/tokens                                         | read waitpoints     | key | token | -
GET    /api/v1/waitpoints/tokens/{waitpointId}                           | read waitpoint      | key | token | -
POST   /api/v1/waitpoints/tokens/{waitpointId}/complete                  | write waitpoint     | key | token | -
POST   /api/v1/waitpoints/tokens/{waitpointId}/callback/{hash}           | open                | key | token | own

# Error groups: specification, endpoints; contract 2.4, 7
GET    /api/v1/errors                                                    | read errors         | key | token | -
GET    /api/v1/errors/{errorId}                                          | read error          | key | token | -
POST   /api/v1/errors/{errorId}/resolve                                  | write error         | key | token | -
POST   /api/v1/errors/{errorId}/ignore                                   | write error         | key | token | -
POST   /api/v1/errors/{errorId}/unresolve                                | write error         | key | token | -
GET    /api/v1/errors/{errorId}/fingerprints                             | read error          | key | token | -
GET    /api/v1/errors/{errorId}/history                                  | read error          | key | token | -
POST   /api/v1/errors/{errorId}/merge                                    | write errors        | key | -     | -
POST   /api/v1/errors/{errorId}/split                                    | write error         | key | -     | -
GET    /api/v1/projects/{projectRef}/error-rules                         | read errors         | key | -     | viewer
POST   /api/v1/projects/{projectRef}/error-rules                         | write project rules | key | -     | member
POST   /api/v1/projects/{projectRef}/error-rules/preview                 | read errors         | key | -     | viewer
PATCH  /api/v1/projects/{projectRef}/error-rules/{ruleId}                | write project rules | key | -     | member
DELETE /api/v1/projects/{projectRef}/error-rules/{ruleId}                | write project rules | key | -     | member

# Schedules: specification, operation table; contract 6
POST   /api/v1/schedules                                                 | write schedules     | key | -     | -
GET    /api/v1/schedules                                                 | read schedules      | key | -     | -
GET    /api/v1/schedules/{scheduleId}                                    | read schedules      | key | -     | -
PUT    /api/v1/schedules/{scheduleId}                                    | write schedules     | key | -     | -
DELETE /api/v1/schedules/{scheduleId}                                    | write schedules     | key | -     | -
POST   /api/v1/schedules/{scheduleId}/activate                           | write schedules     | key | -     | -
POST   /api/v1/schedules/{scheduleId}/deactivate                         | write schedules     | key | -     | -
GET    /api/v1/schedules/{scheduleId}/preview                            | read schedules      | key | -     | -
GET    /api/v1/schedules/{scheduleId}/ticks                              | read schedules      | key | -     | -
POST   /api/v1/schedules/{scheduleId}/backfill                           | write schedules     | key | -     | -
GET    /api/v1/timezones                                                 | open                | key | token | own

# Events: specification, endpoints; contract 8
POST   /api/v1/events                                                    | write events        | key | token | -
POST   /api/v1/event-batches                                             | write events        | key | token | -
GET    /api/v1/events                                                    | read events         | key | token | -
GET    /api/v1/events/{eventId}                                          | read events         | key | token | -
POST   /api/v1/events/{eventId}/replay                                   | write events        | key | -     | -
POST   /api/v1/events/{eventId}/cancel                                   | write events        | key | -     | -

# Sessions: specification, session scopes; contract 2.4, 2.8, 9
POST   /api/v1/sessions                                                  | create session      | key | token | -
GET    /api/v1/sessions                                                  | list sessions       | key | token | -
GET    /api/v1/sessions/{session}                                        | read session        | key | token | -
PATCH  /api/v1/sessions/{session}                                        | admin               | key | 403   | -
POST   /api/v1/sessions/{session}/close                                  | admin               | key | 403   | -
POST   /api/v1/sessions/{session}/end-and-continue                       | write session       | key | token | -
POST   /realtime/v1/sessions/{session}/in/append                         | write session       | key | token | -
POST   /realtime/v1/sessions/{session}/out/append                        | write session       | key | 403   | -
POST   /realtime/v1/sessions/{session}/channels/{channel}/in/append      | write session       | key | token | -
POST   /realtime/v1/sessions/{session}/channels/{channel}/out/append     | write session       | key | 403   | -
POST   /realtime/v1/sessions/{session}/out/records                       | write session       | key | 403   | -
POST   /realtime/v1/sessions/{session}/channels/{channel}/out/records    | write session       | key | 403   | -
PUT    /realtime/v1/sessions/{session}/in                                | write session       | key, not in runs | token | -
PUT    /realtime/v1/sessions/{session}/out                               | write session       | key, not in runs | 403   | -
HEAD   /realtime/v1/sessions/{session}/in                                | read session        | key | 403   | -
HEAD   /realtime/v1/sessions/{session}/out                               | read session        | key | token | -
GET    /realtime/v1/sessions/{session}/in                                | read session        | key | 403   | -
GET    /realtime/v1/sessions/{session}/out                               | read session        | key | token | -
GET    /realtime/v1/sessions/{session}/channels/{channel}/in             | read session        | key | 403   | -
GET    /realtime/v1/sessions/{session}/channels/{channel}/out            | read session        | key | token | -
GET    /realtime/v1/sessions/{session}/in/records                        | read session        | key | 403   | -
GET    /realtime/v1/sessions/{session}/out/records                       | read session        | key | token | -

# Notifications: our own ([R] of contract 12.3), shaped as its webhooks
POST   /api/v1/projects/{projectRef}/notifications/{env}/endpoints                            | write webhooks | key, not in runs | - | member
GET    /api/v1/projects/{projectRef}/notifications/{env}/endpoints                            | read webhooks  | key | - | viewer
GET    /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}               | read webhooks  | key | - | viewer
PATCH  /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}               | write webhooks | key, not in runs | - | member
DELETE /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}               | write webhooks | key, not in runs | - | member
POST   /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}/rotate-secret | write webhooks | key, not in runs | - | member
POST   /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}/test          | write webhooks | key, not in runs | - | member
GET    /api/v1/projects/{projectRef}/notifications/{env}/deliveries                           | read webhooks  | key | - | viewer
GET    /api/v1/projects/{projectRef}/notifications/{env}/deliveries/{deliveryId}              | read webhooks  | key | - | viewer
POST   /api/v1/projects/{projectRef}/notifications/{env}/deliveries/{deliveryId}/replay       | write webhooks | key, not in runs | - | member
POST   /api/v1/projects/{projectRef}/alerts/{env}                                             | write webhooks | key, not in runs | - | member
GET    /api/v1/projects/{projectRef}/alerts/{env}                                             | read webhooks  | key | - | viewer
GET    /api/v1/projects/{projectRef}/alerts/{env}/{alertId}                                   | read webhooks  | key | - | viewer
PATCH  /api/v1/projects/{projectRef}/alerts/{env}/{alertId}                                   | write webhooks | key, not in runs | - | member
DELETE /api/v1/projects/{projectRef}/alerts/{env}/{alertId}                                   | write webhooks | key, not in runs | - | member

# Environment variables: specification, operation table; contract 5
GET    /api/v1/projects/{projectRef}/envvars/{env}                       | read envvars        | key | -     | viewer
GET    /api/v1/projects/{projectRef}/envvars/{env}/{name}                | read envvars        | key | -     | viewer
POST   /api/v1/projects/{projectRef}/envvars/{env}                       | write envvars       | key | -     | member
PUT    /api/v1/projects/{projectRef}/envvars/{env}/{name}                | write envvars       | key | -     | member
POST   /api/v1/projects/{projectRef}/envvars/{env}/{name}                | write envvars       | key | -     | member
DELETE /api/v1/projects/{projectRef}/envvars/{env}/{name}                | write envvars       | key | -     | member
POST   /api/v1/projects/{projectRef}/envvars/{env}/import                | write envvars       | key | -     | member
GET    /api/v1/projects/{projectRef}/envvars                             | read envvars        | key, not in runs | -     | -
GET    /api/v1/projects/{projectRef}/envvar-revisions/{env}              | read envvars        | key | -     | viewer
GET    /api/v1/projects/{projectRef}/envvar-revisions/{env}/diff         | read envvars        | key | -     | viewer
POST   /api/v1/projects/{projectRef}/envvar-revisions/{env}/rollback     | write envvars       | key | -     | member

# Versions and branches: contract 5.9, 12
POST   /runner/v1/versions                                               | write deployments   | key, not in runs | -     | -
GET    /runner/v1/versions/{version}/bundle                              | write deployments   | key, not in runs | -     | -
POST   /api/v1/deployments                                               | deploy deployments  | key, not in runs | -     | -
PUT    /api/v1/deployments/{deploymentId}/blobs/{blob}                   | deploy deployments  | key, not in runs | -     | -
POST   /api/v1/deployments/{deploymentId}/finalize                       | deploy deployments  | key, not in runs | -     | -
POST   /api/v1/deployments/{deploymentId}/fail                           | deploy deployments  | key, not in runs | -     | -
POST   /api/v1/deployments/{version}/promote                             | deploy deployments  | key, not in runs | -     | -
POST   /api/v1/deployments/{version}/abort-canary                        | write deployments   | key, not in runs | -     | -
POST   /api/v1/deployments/{version}/move                                | write deployments   | key, not in runs | -     | -
POST   /api/v1/deployments/{version}/archive                             | write deployments   | key, not in runs | -     | -
GET    /api/v1/deployments                                               | read deployments    | key | -     | -
GET    /api/v1/deployments/latest                                        | read deployments    | key | -     | -
GET    /api/v1/deployments/current                                       | read deployments    | key | -     | -
GET    /api/v1/deployments/{version}                                     | read deployments    | key | -     | -
GET    /api/v1/runners                                                   | read deployments    | key | -     | -
POST   /api/v1/runners/{runnerId}/drain                                  | write deployments   | key, not in runs | -     | -
POST   /api/v1/runners/{runnerId}/stop                                   | write deployments   | key, not in runs | -     | -
GET    /api/v1/projects/{projectRef}/branches                            | read branches       | key | -     | viewer
POST   /api/v1/projects/{projectRef}/branches                            | deploy branches     | key, not in runs | -     | member
POST   /api/v1/projects/{projectRef}/branches/archive                    | deploy branches     | key, not in runs | -     | member

# Credentials: contract 2.6
POST   /api/v1/auth/public-tokens                                        | hand on             | key | -     | -
POST   /api/v1/auth/jwt                                                  | admin               | key, not in runs | -     | -
POST   /api/v1/auth/jwt/claims                                           | any                 | key, not in runs | -     | -
POST   /api/v1/projects/{projectRef}/{env}/jwt                           | -                   | -   | -     | member
GET    /api/v1/whoami                                                    | any                 | key | token | own
GET    /api/v2/whoami                                                    | -                   | -   | -     | own
POST   /api/v1/authorization-code                                        | open                | key | token | own
POST   /api/v1/authorization-code/describe                               | -                   | -   | -     | own
POST   /api/v1/authorization-code/approve                                | -                   | -   | -     | own
POST   /api/v1/token                                                     | open                | key | token | own
GET    /api/v1/projects/{projectRef}/{env}/keys                          | -                   | -   | -     | viewer
POST   /api/v1/projects/{projectRef}/{env}/keys                          | -                   | -   | -     | admin/member
POST   /api/v1/projects/{projectRef}/{env}/keys/{keyId}/revoke           | -                   | -   | -     | admin/member
POST   /api/v1/projects/{projectRef}/{env}/keys/{keyId}/rotate           | -                   | -   | -     | admin/member
POST   /api/v1/projects/{projectRef}/{env}/regenerate-api-key            | -                   | -   | -     | admin/member
POST   /api/v1/projects/{projectRef}/{env}/signing-key/rotate            | -                   | -   | -     | admin/member
GET    /api/v1/tokens                                                    | -                   | -   | -     | own
POST   /api/v1/tokens                                                    | -                   | -   | -     | own
POST   /api/v1/tokens/{tokenId}/revoke                                   | -                   | -   | -     | own

# The installation: our own; for owners of the organisation that it was set up with, whatever other roles they have
POST   /api/v1/resume                                                    | -                   | -   | -     | installation
GET    /api/v1/storage                                                   | -                   | -   | -     | installation

# Organisations, projects, people: contract 12.2, for users only
GET    /api/v1/projects                                                  | -                   | -   | -     | own
GET    /api/v1/orgs/{organization}/projects                              | -                   | -   | -     | viewer
POST   /api/v1/orgs/{organization}/projects                              | -                   | -   | -     | admin
GET    /api/v1/projects/{projectRef}                                     | -                   | -   | -     | viewer
PATCH  /api/v1/projects/{projectRef}                                     | -                   | -   | -     | admin
DELETE /api/v1/projects/{projectRef}                                     | -                   | -   | -     | owner
GET    /api/v1/projects/{projectRef}/environments                        | -                   | -   | -     | viewer
GET    /api/v1/projects/{projectRef}/{env}                               | -                   | -   | -     | member
DELETE /api/v1/projects/{projectRef}/{env}                               | -                   | -   | -     | admin/member
POST   /api/v1/projects/{projectRef}/{env}/pause                         | -                   | -   | -     | admin/member
POST   /api/v1/projects/{projectRef}/{env}/resume                        | -                   | -   | -     | admin/member
GET    /api/v1/orgs                                                      | -                   | -   | -     | own
POST   /api/v1/orgs                                                      | -                   | -   | -     | own
PATCH  /api/v1/orgs/{organization}                                       | -                   | -   | -     | admin
GET    /api/v1/orgs/{organization}/members                               | -                   | -   | -     | viewer
PATCH  /api/v1/orgs/{organization}/members/{userId}                      | -                   | -   | -     | admin
DELETE /api/v1/orgs/{organization}/members/{userId}                      | -                   | -   | -     | admin
POST   /api/v1/orgs/{organization}/leave                                 | -                   | -   | -     | viewer
GET    /api/v1/orgs/{organization}/invites                               | -                   | -   | -     | admin
POST   /api/v1/orgs/{organization}/invites                               | -                   | -   | -     | admin
POST   /api/v1/orgs/{organization}/invites/{invitationId}/revoke         | -                   | -   | -     | admin
POST   /api/v1/invites/accept                                            | -                   | -   | -     | own
POST   /api/v1/invites/join                                              | open                | key | token | own
GET    /api/v1/orgs/{organization}/audit                                 | -                   | -   | -     | admin
`;

export type Role = 'viewer' | 'member' | 'admin' | 'owner';

export interface Row {
  /** As in the OpenAPI document: `POST /api/v1/errors/{errorId}/resolve`. */
  readonly route: string;
  /** What a secret key or public token must be granted; `-` where neither is accepted, `open` where nobody is asked. */
  readonly needs: string;
  readonly key: boolean;
  /** Whether code of runs may, with the credential of its attempt. */
  readonly inRuns: boolean;
  readonly token: boolean | 403;
  /** Of a personal access token; null where none is accepted. */
  readonly role: Role | 'own' | 'installation' | null;
  readonly devRole: Role | null;
}

export const table: readonly Row[] = text
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => {
    const [route = '', needs = '', key, token, role = ''] = line.split('|').map((cell) => cell.trim());
    const [least = '', dev] = role.split('/');
    return {
      route: route.replace(/ +/, ' '),
      needs,
      key: key?.startsWith('key') === true,
      inRuns: key === 'key',
      token: token === '403' ? 403 : token === 'token',
      role: least === '-' ? null : (least as Row['role']),
      devRole: (dev as Role | undefined) ?? null,
    };
  });
