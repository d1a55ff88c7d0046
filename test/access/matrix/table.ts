/**
 * The permissions of every call, written by hand from the specification (its tables under Authentication) and from the contract (2.3 to 2.8,
 * 3 to 9, 12), never from the code: the matrix compares a running server with it. A route that is missing here fails the test.
 *
 * Columns: the route; the scope that a secret key or public token needs (`rules.ts` defines each word); whether secret keys
 * are accepted (`not in runs`: 403 for the credential of a run's attempt); whether public tokens are (`403`: known, and rejected for this
 * request); the least role of a personal access token's user
 * (`own`: any role; `x/y`: y where the environment is the user's own dev; `installation`: an owner of the first organization);
 * the same for a browser session (`closed`: 403 for every role).
 */
const text = `
# Triggering: specification, operation table; contract 3
POST   /api/v1/tasks/{taskId}/trigger                                    | trigger task        | key | token | - | member
POST   /api/v1/tasks/trigger-many                                        | trigger task        | key | token | - | member
POST   /api/v1/outbox                                                    | trigger task        | key, not in runs | -     | - | member
GET    /api/v1/tasks                                                     | read tasks          | key | -     | - | viewer
GET    /api/v1/tasks/{taskId}                                            | read task           | key | -     | - | viewer
GET    /api/v1/task-activity                                             | read runs           | key | -     | - | viewer
POST   /api/v1/idempotencyKeys/{key}/reset                               | write runs          | key | token | - | member
POST   /api/v3/batches                                                   | open batch          | key | token | - | member
POST   /api/v3/batches/{batchId}/items                                   | fill batch          | key | token | - | member
POST   /api/v2/tasks/batch                                               | open batch          | key | token | - | member
GET    /api/v2/batches/{batchId}                                         | read batch          | key | token | - | viewer
GET    /api/v1/batches                                                   | list batches        | key | -     | - | viewer
GET    /api/v1/batches/{batchId}                                         | read batch          | key | token | - | viewer
GET    /api/v1/batches/{batchId}/results                                 | read batch          | key | -     | - | viewer
PUT    /api/v2/packets/{packet}                                          | trigger some        | key | token | - | member
PUT    /api/v1/packets/{packet}                                          | trigger some        | key | token | - | member

# Runs: specification, operation table; contract 2.4, 4
GET    /api/v3/runs/{runId}                                              | read run            | key | token | - | viewer
POST   /api/v2/runs/{runId}/cancel                                       | write run           | key | token | - | member
GET    /api/v1/runs/{runId}/logs                                         | read run            | key | token | - | viewer
GET    /api/v1/runs/{runId}/spans                                        | read run            | key | token | - | viewer
GET    /api/v1/runs/{runId}/models                                       | read run            | key | token | - | viewer
GET    /api/v1/logs                                                      | read runs           | key | -     | - | viewer
GET    /realtime/v1/logs/events                                          | read runs           | key | -     | - | viewer
GET    /realtime/v1/runs/{runId}/logs/events                             | read run            | key | token | - | viewer
GET    /api/v1/runs                                                      | list runs           | key | token | - | viewer
GET    /api/v1/runs/count                                                | list runs           | key | token | - | viewer
GET    /api/v1/projects/{projectRef}/runs                                | -                   | -   | -     | viewer | viewer
POST   /api/v1/runs/{runId}/replay                                       | write run           | key | -     | - | member
POST   /api/v1/runs/{runId}/reschedule                                   | write run           | key | -     | - | member
POST   /api/v1/runs/{runId}/tags                                         | write run           | key | -     | - | member
GET    /api/v1/runs/{runId}/metadata                                     | read run            | key | -     | - | viewer
PUT    /api/v1/runs/{runId}/metadata                                     | write run           | key | -     | - | member
GET    /api/v1/runs/{runId}/result                                       | read run            | key | -     | - | viewer
GET    /api/v1/runs/{runId}/events                                       | read run            | key | token | - | viewer
GET    /api/v1/runs/{runId}/trace                                        | read run            | key | token | - | viewer
GET    /api/v1/runs/{runId}/reason                                       | read run            | key | token | - | viewer
GET    /api/v1/runs/{runId}/attempts                                     | read run            | key | token | - | viewer
GET    /api/v1/runs/{runId}/steps                                            | read run            | key | token | - | viewer
GET    /api/v1/runs/{runId}/steps/results                                    | write run           | key | -     | - | member
PUT    /api/v1/runs/{runId}/steps                                            | write run           | key | -     | - | member
GET    /api/v1/runs/{runId}/timeline                                     | read run            | key | token | - | viewer
GET    /api/v1/runs/{runId}/packets/{field}                              | read run            | key | token | - | viewer
GET    /api/v1/stats                                                     | read runs           | key | -     | - | viewer
GET    /api/v1/models/usage                                              | read runs           | key | -     | - | viewer
POST   /api/v1/run-paths                                                 | write runs          | key, not in runs | -     | - | member
GET    /api/v1/run-paths                                                 | read runs           | key | -     | - | viewer
DELETE /api/v1/run-paths/{path}                                          | write runs          | key, not in runs | -     | - | member
GET    /api/v1/retention                                                 | read runs           | key | -     | - | viewer
PUT    /api/v1/retention                                                 | admin               | key, not in runs | -     | - | admin
POST   /api/v1/bulk-actions                                              | write runs          | key | -     | - | member
GET    /api/v1/bulk-actions                                              | read runs           | key | -     | - | viewer
GET    /api/v1/bulk-actions/{bulkActionId}                               | read runs           | key | -     | - | viewer
POST   /api/v1/bulk-actions/{bulkActionId}/abort                         | write runs          | key | -     | - | member
POST   /api/v1/run-archive                                               | read runs           | key | -     | - | viewer
POST   /api/v1/erasures                                                  | admin               | key, not in runs | -     | - | admin
GET    /api/v1/erasures                                                  | read runs           | key | -     | - | viewer
GET    /api/v1/erasures/{erasureId}                                      | read runs           | key | -     | - | viewer
POST   /api/v1/erasures/{erasureId}/abort                                | admin               | key, not in runs | -     | - | admin

# Live subscriptions and streams of runs: contract 2.4, 4.7, 12
GET    /realtime/v1/runs/{runId}                                         | read run            | key | token | - | viewer
GET    /realtime/v1/runs                                                 | read tagged         | key | token | - | viewer
GET    /realtime/v1/batches/{batchId}                                    | read batch          | key | token | - | viewer
GET    /realtime/v1/runs/{runId}/events                                  | read run            | key | token | - | viewer
GET    /realtime/v1/runs/events                                          | read tagged         | key | token | - | viewer
GET    /realtime/v1/batches/{batchId}/events                             | read batch          | key | token | - | viewer
POST   /realtime/v1/streams/{runId}/input/{stream}                       | write run           | key | token | - | closed
PUT    /realtime/v1/streams/{runId}/input/{stream}                       | write run           | key | -     | - | closed
GET    /realtime/v1/streams/{runId}/input/{stream}                       | read run            | key | -     | - | viewer
PUT    /realtime/v1/streams/{runId}/{target}/{stream}                    | write run           | key, not in runs | -     | - | closed
POST   /realtime/v1/streams/{runId}/{target}/{stream}/append             | write run           | key | -     | - | closed
POST   /realtime/v1/streams/{runId}/{target}/{stream}/records            | write run           | key | -     | - | closed
GET    /realtime/v1/streams/{runId}/{stream}                             | read run            | key | token | - | viewer
GET    /api/v1/packets/{packet}                                          | read packet         | key | token | - | viewer
GET    /api/v2/packets/{packet}                                          | read packet         | key | token | - | viewer

# Queues, waits: contract 12
GET    /api/v1/queues                                                    | read queues         | key | -     | - | viewer
GET    /api/v1/queues/{queue}                                            | read queues         | key | -     | - | viewer
POST   /api/v1/queues/{queue}/pause                                      | write queues        | key | -     | - | member
POST   /api/v1/queues/{queue}/concurrency/override                       | write queues        | key | -     | - | member
POST   /api/v1/queues/{queue}/concurrency/reset                          | write queues        | key | -     | - | member
POST   /api/v1/queues/{queue}/rate-limit/override                        | write queues        | key | -     | - | member
POST   /api/v1/queues/{queue}/rate-limit/reset                           | write queues        | key | -     | - | member
POST   /api/v1/queues/{queue}/key-weight                                 | write queues        | key | -     | - | member
GET    /api/v1/key-weights                                               | read queues         | key | -     | - | viewer
GET    /api/v1/shared-limits                                             | read queues         | key | -     | - | viewer
POST   /api/v1/shared-limits/{name}/override                             | write queues        | key | -     | - | member
POST   /api/v1/shared-limits/{name}/reset                                | write queues        | key | -     | - | member
GET    /api/v1/concurrency                                               | read queues         | key | -     | - | viewer
PUT    /api/v1/concurrency                                               | write queues        | key | -     | - | member
POST   /api/v1/waitpoints/tokens                                         | write waitpoints    | key | token | - | member
GET    /api/v1/waitpoints/tokens                                         | read waitpoints     | key | token | - | viewer
GET    /api/v1/waitpoints/tokens/{waitpointId}                           | read waitpoint      | key | token | - | viewer
POST   /api/v1/waitpoints/tokens/{waitpointId}/complete                  | write waitpoint     | key | token | - | member
POST   /api/v1/waitpoints/tokens/{waitpointId}/callback/{hash}           | open                | key | token | own | open

# Error groups: specification, endpoints; contract 2.4, 7
GET    /api/v1/errors                                                    | read errors         | key | token | - | viewer
GET    /api/v1/errors/{errorId}                                          | read error          | key | token | - | viewer
POST   /api/v1/errors/{errorId}/resolve                                  | write error         | key | token | - | member
POST   /api/v1/errors/{errorId}/ignore                                   | write error         | key | token | - | member
POST   /api/v1/errors/{errorId}/unresolve                                | write error         | key | token | - | member
GET    /api/v1/errors/{errorId}/fingerprints                             | read error          | key | token | - | viewer
POST   /api/v1/errors/{errorId}/assign                                   | write error         | key | -     | - | member
POST   /api/v1/errors/{errorId}/note                                     | write error         | key | -     | - | member
POST   /api/v1/errors/{errorId}/link                                     | write error         | key | -     | - | member
GET    /api/v1/errors/{errorId}/history                                  | read error          | key | token | - | viewer
GET    /api/v1/errors/{errorId}/versions                                 | read error          | key | -     | - | viewer
POST   /api/v1/errors/{errorId}/merge                                    | write errors        | key | -     | - | member
POST   /api/v1/errors/{errorId}/split                                    | write error         | key | -     | - | member
GET    /api/v1/projects/{projectRef}/charts/{env}                        | -                   | -   | -     | viewer | viewer
POST   /api/v1/projects/{projectRef}/charts/{env}                        | -                   | -   | -     | member | member
PATCH  /api/v1/projects/{projectRef}/charts/{env}/{chartId}              | -                   | -   | -     | member | member
DELETE /api/v1/projects/{projectRef}/charts/{env}/{chartId}              | -                   | -   | -     | member | member
GET    /api/v1/projects/{projectRef}/model-prices                        | -                   | -   | -     | viewer | viewer
PUT    /api/v1/projects/{projectRef}/model-prices                        | -                   | -   | -     | member | member
DELETE /api/v1/projects/{projectRef}/model-prices/{model}                | -                   | -   | -     | member | member
GET    /api/v1/projects/{projectRef}/error-rules                         | read errors         | key | -     | viewer | viewer
POST   /api/v1/projects/{projectRef}/error-rules                         | write project rules | key | -     | member | member
POST   /api/v1/projects/{projectRef}/error-rules/preview                 | read errors         | key | -     | viewer | viewer
PATCH  /api/v1/projects/{projectRef}/error-rules/{ruleId}                | write project rules | key | -     | member | member
DELETE /api/v1/projects/{projectRef}/error-rules/{ruleId}                | write project rules | key | -     | member | member

# Schedules: specification, operation table; contract 6
POST   /api/v1/schedules                                                 | write schedules     | key | -     | - | member
GET    /api/v1/schedules                                                 | read schedules      | key | -     | - | viewer
GET    /api/v1/schedules/{scheduleId}                                    | read schedules      | key | -     | - | viewer
PUT    /api/v1/schedules/{scheduleId}                                    | write schedules     | key | -     | - | member
DELETE /api/v1/schedules/{scheduleId}                                    | write schedules     | key | -     | - | member
POST   /api/v1/schedules/{scheduleId}/activate                           | write schedules     | key | -     | - | member
POST   /api/v1/schedules/{scheduleId}/deactivate                         | write schedules     | key | -     | - | member
GET    /api/v1/schedules/{scheduleId}/preview                            | read schedules      | key | -     | - | viewer
GET    /api/v1/schedules/{scheduleId}/ticks                              | read schedules      | key | -     | - | viewer
POST   /api/v1/schedules/{scheduleId}/backfill                           | write schedules     | key | -     | - | member
GET    /api/v1/timezones                                                 | open                | key | token | own | open

# Events: specification, endpoints; contract 8
POST   /api/v1/events                                                    | write events        | key | token | - | member
POST   /api/v1/event-batches                                             | write events        | key | token | - | member
GET    /api/v1/events                                                    | read events         | key | token | - | viewer
GET    /api/v1/events/{eventId}                                          | read events         | key | token | - | viewer
POST   /api/v1/events/{eventId}/replay                                   | write events        | key | -     | - | member
POST   /api/v1/events/{eventId}/cancel                                   | write events        | key | -     | - | member

# Webhooks of other services: issue 40, point 3
GET    /api/v1/webhooks                                                  | read webhooks       | key | -     | - | viewer
POST   /api/v1/webhooks/{webhookId}/send                                 | write webhooks      | key | -     | - | member
GET    /api/v1/webhook-deliveries                                        | read webhooks       | key | -     | - | viewer
GET    /api/v1/webhook-deliveries/{webhookDeliveryId}                    | read webhooks       | key | -     | - | viewer
POST   /api/v1/webhook-deliveries/{webhookDeliveryId}/replay             | write webhooks      | key | -     | - | member

# Sessions: specification, session scopes; contract 2.4, 2.8, 9
POST   /api/v1/sessions                                                  | create session      | key | token | - | member
GET    /api/v1/sessions                                                  | list sessions       | key | token | - | viewer
GET    /api/v1/sessions/{session}                                        | read session        | key | token | - | viewer
PATCH  /api/v1/sessions/{session}                                        | admin               | key | 403   | - | admin
POST   /api/v1/sessions/{session}/close                                  | admin               | key | 403   | - | admin
POST   /api/v1/sessions/{session}/end-and-continue                       | write session       | key | token | - | closed
GET    /api/v1/sessions/{session}/snapshot-url                           | read session        | key | 403   | - | closed
PUT    /api/v1/sessions/{session}/snapshot-url                           | write session       | key | 403   | - | closed
POST   /realtime/v1/sessions/{session}/in/append                         | write session       | key | token | - | member
POST   /realtime/v1/sessions/{session}/out/append                        | write session       | key | 403   | - | closed
POST   /realtime/v1/sessions/{session}/channels/{channel}/in/append      | write session       | key | token | - | member
POST   /realtime/v1/sessions/{session}/channels/{channel}/out/append     | write session       | key | 403   | - | closed
POST   /realtime/v1/sessions/{session}/out/records                       | write session       | key | 403   | - | closed
POST   /realtime/v1/sessions/{session}/channels/{channel}/out/records    | write session       | key | 403   | - | closed
PUT    /realtime/v1/sessions/{session}/in                                | write session       | key, not in runs | token | - | closed
PUT    /realtime/v1/sessions/{session}/out                               | write session       | key | 403   | - | closed
HEAD   /realtime/v1/sessions/{session}/in                                | read session        | key | 403   | - | viewer
HEAD   /realtime/v1/sessions/{session}/out                               | read session        | key | token | - | viewer
GET    /realtime/v1/sessions/{session}/in                                | read session        | key | 403   | - | viewer
GET    /realtime/v1/sessions/{session}/out                               | read session        | key | token | - | viewer
GET    /realtime/v1/sessions/{session}/channels/{channel}/in             | read session        | key | 403   | - | viewer
GET    /realtime/v1/sessions/{session}/channels/{channel}/out            | read session        | key | token | - | viewer
GET    /realtime/v1/sessions/{session}/in/records                        | read session        | key | 403   | - | viewer
GET    /realtime/v1/sessions/{session}/out/records                       | read session        | key | token | - | viewer

# Notifications: our own ([R] of contract 12.3), shaped as its webhooks
POST   /api/v1/projects/{projectRef}/notifications/{env}/endpoints                            | write webhooks | key, not in runs | - | member | member
GET    /api/v1/projects/{projectRef}/notifications/{env}/endpoints                            | read webhooks  | key | - | viewer | viewer
GET    /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}               | read webhooks  | key | - | viewer | viewer
PATCH  /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}               | write webhooks | key, not in runs | - | member | member
DELETE /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}               | write webhooks | key, not in runs | - | member | member
POST   /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}/rotate-secret | write webhooks | key, not in runs | - | member | member
POST   /api/v1/projects/{projectRef}/notifications/{env}/endpoints/{endpointId}/test          | write webhooks | key, not in runs | - | member | member
GET    /api/v1/projects/{projectRef}/notifications/{env}/deliveries                           | read webhooks  | key | - | viewer | viewer
GET    /api/v1/projects/{projectRef}/notifications/{env}/deliveries/{deliveryId}              | read webhooks  | key | - | viewer | viewer
POST   /api/v1/projects/{projectRef}/notifications/{env}/deliveries/{deliveryId}/replay       | write webhooks | key, not in runs | - | member | member
POST   /api/v1/projects/{projectRef}/alerts/{env}                                             | write webhooks | key, not in runs | - | member | member
GET    /api/v1/projects/{projectRef}/alerts/{env}                                             | read webhooks  | key | - | viewer | viewer
GET    /api/v1/projects/{projectRef}/alerts/{env}/{alertId}                                   | read webhooks  | key | - | viewer | viewer
PATCH  /api/v1/projects/{projectRef}/alerts/{env}/{alertId}                                   | write webhooks | key, not in runs | - | member | member
DELETE /api/v1/projects/{projectRef}/alerts/{env}/{alertId}                                   | write webhooks | key, not in runs | - | member | member

# Environment variables: specification, operation table; contract 5
GET    /api/v1/projects/{projectRef}/envvars/{env}                       | read envvars        | key | -     | viewer | viewer
GET    /api/v1/projects/{projectRef}/envvars/{env}/{name}                | read envvars        | key | -     | viewer | viewer
POST   /api/v1/projects/{projectRef}/envvars/{env}                       | write envvars       | key | -     | member | member
PUT    /api/v1/projects/{projectRef}/envvars/{env}/{name}                | write envvars       | key | -     | member | member
POST   /api/v1/projects/{projectRef}/envvars/{env}/{name}                | write envvars       | key | -     | member | member
DELETE /api/v1/projects/{projectRef}/envvars/{env}/{name}                | write envvars       | key | -     | member | member
POST   /api/v1/projects/{projectRef}/envvars/{env}/import                | write envvars       | key | -     | member | member
GET    /api/v1/projects/{projectRef}/envvars                             | read envvars        | key, not in runs | -     | - | closed
GET    /api/v1/projects/{projectRef}/envvar-revisions/{env}              | read envvars        | key | -     | viewer | viewer
GET    /api/v1/projects/{projectRef}/envvar-revisions/{env}/diff         | read envvars        | key | -     | viewer | viewer
POST   /api/v1/projects/{projectRef}/envvar-revisions/{env}/rollback     | write envvars       | key | -     | member | member

# Versions and branches: contract 5.9, 12
POST   /runner/v1/versions                                               | write deployments   | key, not in runs | -     | - | closed
GET    /runner/v1/versions/{version}/bundle                              | write deployments   | key, not in runs | -     | - | closed
POST   /api/v1/deployments                                               | deploy deployments  | key, not in runs | -     | - | closed
PUT    /api/v1/deployments/{deploymentId}/blobs/{blob}                   | deploy deployments  | key, not in runs | -     | - | closed
POST   /api/v1/deployments/{deploymentId}/finalize                       | deploy deployments  | key, not in runs | -     | - | closed
POST   /api/v1/deployments/{deploymentId}/fail                           | deploy deployments  | key, not in runs | -     | - | closed
POST   /api/v1/deployments/{version}/promote                             | deploy deployments  | key, not in runs | -     | - | member
POST   /api/v1/deployments/{version}/abort-canary                        | write deployments   | key, not in runs | -     | - | member
POST   /api/v1/deployments/{version}/move                                | write deployments   | key, not in runs | -     | - | member
POST   /api/v1/deployments/{version}/archive                             | write deployments   | key, not in runs | -     | - | member
GET    /api/v1/deployments                                               | read deployments    | key | -     | - | viewer
GET    /api/v1/deployments/latest                                        | read deployments    | key | -     | - | viewer
GET    /api/v1/deployments/current                                       | read deployments    | key | -     | - | viewer
GET    /api/v1/deployments/{version}                                     | read deployments    | key | -     | - | viewer
GET    /api/v1/deployments/{version}/compare                             | read deployments    | key | -     | - | viewer
GET    /api/v1/deployments/{version}/source                              | read sources        | key, not in runs | -     | - | viewer
GET    /api/v1/runners                                                   | read deployments    | key | -     | - | viewer
POST   /api/v1/runners/{runnerId}/drain                                  | write deployments   | key, not in runs | -     | - | member
POST   /api/v1/runners/{runnerId}/stop                                   | write deployments   | key, not in runs | -     | - | member
GET    /api/v1/projects/{projectRef}/branches                            | read branches       | key | -     | viewer | viewer
POST   /api/v1/projects/{projectRef}/branches                            | deploy branches     | key, not in runs | -     | member | member
POST   /api/v1/projects/{projectRef}/branches/archive                    | deploy branches     | key, not in runs | -     | member | member

# Credentials: contract 2.6
POST   /api/v1/auth/public-tokens                                        | hand on             | key | -     | - | closed
POST   /api/v1/auth/jwt                                                  | admin               | key, not in runs | -     | - | closed
POST   /api/v1/auth/jwt/claims                                           | any                 | key, not in runs | -     | - | closed
POST   /api/v1/projects/{projectRef}/{env}/jwt                           | -                   | -   | -     | member | closed
GET    /api/v1/whoami                                                    | any                 | key | token | own | own
GET    /api/v2/whoami                                                    | -                   | -   | -     | own | own
POST   /api/v1/authorization-code                                        | open                | key | token | own | open
POST   /api/v1/authorization-code/describe                               | -                   | -   | -     | own | own
POST   /api/v1/authorization-code/approve                                | -                   | -   | -     | own | own
POST   /api/v1/token                                                     | open                | key | token | own | open
GET    /api/v1/login-providers                                           | open                | key | token | own | open
POST   /api/v1/browser-sessions                                          | open                | key | token | own | open
GET    /api/v1/browser-sessions/current                                  | -                   | -   | -     | - | own
DELETE /api/v1/browser-sessions/current                                  | -                   | -   | -     | - | own
GET    /api/v1/browser-sessions                                          | -                   | -   | -     | own | own
DELETE /api/v1/browser-sessions/{sessionId}                              | -                   | -   | -     | own | own
POST   /api/v1/browser-links                                             | -                   | -   | -     | own | closed
PUT    /api/v1/password                                                  | -                   | -   | -     | own | closed
GET    /api/v1/projects/{projectRef}/{env}/keys                          | -                   | -   | -     | viewer | viewer
POST   /api/v1/projects/{projectRef}/{env}/keys                          | -                   | -   | -     | admin/member | admin/member
POST   /api/v1/projects/{projectRef}/{env}/keys/{keyId}/revoke           | -                   | -   | -     | admin/member | admin/member
POST   /api/v1/projects/{projectRef}/{env}/keys/{keyId}/rotate           | -                   | -   | -     | admin/member | admin/member
POST   /api/v1/projects/{projectRef}/{env}/regenerate-api-key            | -                   | -   | -     | admin/member | admin/member
POST   /api/v1/projects/{projectRef}/{env}/signing-key/rotate            | -                   | -   | -     | admin/member | admin/member
GET    /api/v1/tokens                                                    | -                   | -   | -     | own | own
POST   /api/v1/tokens                                                    | -                   | -   | -     | own | own
POST   /api/v1/tokens/{tokenId}/revoke                                   | -                   | -   | -     | own | own

# The installation: our own; for owners of the first organization, with any other roles
POST   /api/v1/resume                                                    | -                   | -   | -     | installation | installation
GET    /api/v1/storage                                                   | -                   | -   | -     | installation | installation
GET    /api/v1/doctor                                                    | -                   | -   | -     | installation | installation

# Organizations, projects, people: contract 12.2, for users only
GET    /api/v1/projects                                                  | -                   | -   | -     | own | own
GET    /api/v1/orgs/{organization}/projects                              | -                   | -   | -     | viewer | viewer
POST   /api/v1/orgs/{organization}/projects                              | -                   | -   | -     | admin | admin
GET    /api/v1/projects/{projectRef}                                     | -                   | -   | -     | viewer | viewer
PATCH  /api/v1/projects/{projectRef}                                     | -                   | -   | -     | admin | admin
DELETE /api/v1/projects/{projectRef}                                     | -                   | -   | -     | owner | owner
GET    /api/v1/projects/{projectRef}/environments                        | -                   | -   | -     | viewer | viewer
GET    /api/v1/projects/{projectRef}/{env}                               | -                   | -   | -     | member | member
DELETE /api/v1/projects/{projectRef}/{env}                               | -                   | -   | -     | admin/member | admin/member
POST   /api/v1/projects/{projectRef}/{env}/pause                         | -                   | -   | -     | admin/member | admin/member
POST   /api/v1/projects/{projectRef}/{env}/resume                        | -                   | -   | -     | admin/member | admin/member
GET    /api/v1/orgs                                                      | -                   | -   | -     | own | own
POST   /api/v1/orgs                                                      | -                   | -   | -     | own | own
PATCH  /api/v1/orgs/{organization}                                       | -                   | -   | -     | admin | admin
GET    /api/v1/orgs/{organization}/members                               | -                   | -   | -     | viewer | viewer
PATCH  /api/v1/orgs/{organization}/members/{userId}                      | -                   | -   | -     | admin | admin
DELETE /api/v1/orgs/{organization}/members/{userId}                      | -                   | -   | -     | admin | admin
POST   /api/v1/orgs/{organization}/leave                                 | -                   | -   | -     | viewer | viewer
GET    /api/v1/orgs/{organization}/invites                               | -                   | -   | -     | admin | admin
POST   /api/v1/orgs/{organization}/invites                               | -                   | -   | -     | admin | admin
POST   /api/v1/orgs/{organization}/invites/{invitationId}/revoke         | -                   | -   | -     | admin | admin
POST   /api/v1/invites/accept                                            | -                   | -   | -     | own | own
POST   /api/v1/invites/join                                              | open                | key | token | own | open
GET    /api/v1/orgs/{organization}/audit                                 | -                   | -   | -     | admin | admin
`;

export type Role = 'viewer' | 'member' | 'admin' | 'owner';

export interface Row {
  /** As in the OpenAPI document: `POST /api/v1/errors/{errorId}/resolve`. */
  readonly route: string;
  /** The scope that a secret key or public token needs; `-` where neither is accepted, `open` where no credential is required. */
  readonly needs: string;
  readonly key: boolean;
  /** Whether code of runs has access, with the credential of its attempt. */
  readonly inRuns: boolean;
  readonly token: boolean | 403;
  /** The least role of a personal access token's user; null where no such token is accepted. */
  readonly role: Role | 'own' | 'installation' | null;
  readonly devRole: Role | null;
  /** The least role of a browser session's user. */
  readonly browser: Role | 'own' | 'installation' | 'open' | 'closed';
}

export const table: readonly Row[] = text
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => {
    const [route = '', needs = '', key, token, role = '', browser = ''] = line
      .split('|')
      .map((cell) => cell.trim());
    const [least = '', dev] = role.split('/');
    return {
      route: route.replace(/ +/, ' '),
      needs,
      key: key?.startsWith('key') === true,
      inRuns: key === 'key',
      token: token === '403' ? 403 : token === 'token',
      role: least === '-' ? null : (least as Row['role']),
      devRole: (dev as Role | undefined) ?? null,
      // The matrix sends its requests about prod.
      browser: browser.split('/')[0] as Row['browser'],
    };
  });
