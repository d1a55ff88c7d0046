import {
  actsForUser,
  browserRole,
  operations,
  presets,
  scopesOfPreset,
  type Access,
  type OperationDeclaration,
} from '@millrace/contract';
import { defaultRateLimits, type RateLimit } from '../../packages/server/src/http/rate-limit.ts';

const mark = (yes: boolean | undefined): string => (yes ? '✔' : '✘');

function scopeCell({ secretKey, publicToken, action, on, objects, anyScope }: Access): string {
  if (!secretKey && !publicToken) return '–';
  if (anyScope) return 'any';
  if (action === undefined) return '`admin`';
  return `\`${action}:${on}\`${objects ? ', or of the object' : ''}`;
}

function browserCell(access: Access): string {
  const least = browserRole(access);
  if (least === false) return '✘';
  if (access.installation) return 'first owner';
  return actsForUser(access) && access.devRole !== undefined ? `${least}; of dev ${access.devRole}` : least;
}

function row({ id, method, path, access }: OperationDeclaration): string {
  const { open, secretKey, personalAccessToken, publicToken, oneTime, installation, devRole } = access;
  const { role = installation ? 'first owner' : 'own' } = access;
  const cells = open
    ? ['open', 'open', 'open', 'open', '–']
    : [
        `${access.keysOf ? `of ${access.keysOf.join(', ')}` : mark(secretKey)}${access.forbidsRuns ? ' not in runs' : ''}`,
        personalAccessToken ? (devRole === undefined ? role : `${role}; of dev ${devRole}`) : '✘',
        browserCell(access),
        `${mark(publicToken)}${oneTime ? ' once' : ''}${access.forbidsPublicToken ? ' 403' : ''}`,
        scopeCell(access),
      ];
  return `| ${id} | \`${method} ${path}\` | ${cells.join(' | ')} |`;
}

const listed = (scopes: readonly string[] | undefined): string =>
  scopes?.map((scope) => `\`${scope}\``).join(', ') ?? '–';

const { publicToken, personalAccessToken, browser, browsers, badCredentials, openRequests, batchRuns } =
  defaultRateLimits;

/** Seconds in which a bucket gets one token. */
const every = (limit: RateLimit | undefined): number => Math.round(1 / (limit?.perSecond ?? 1));

/** Names of the public API that have no operation here, and why. */
export const notServed: readonly (readonly [names: readonly string[], why: string])[] = [
  [
    ['POST /api/v1/projects/{ref}/{env}/default-region'],
    'a default region would have no effect: a run goes to any runner of its environment ([triggering](triggering.md))',
  ],
  [
    ['GET /api/v1/projects/runtimes'],
    'tasks execute on the Node version of their runner; the server provides none',
  ],
  [
    ['GET /api/v1/projects/{ref}/alertChannels', 'POST /api/v1/projects/{ref}/alertChannels'],
    'use notification endpoints, which belong to an environment and send signed requests, messages to chats and mail ([alerts](alerts.md))',
  ],
  [
    ['GET /api/v1/webhooks/endpoints', 'GET /api/v1/webhooks/deliveries'],
    'use `GET /api/v1/webhooks` and `GET /api/v1/webhook-deliveries` ([webhooks](webhooks.md))',
  ],
  [
    [
      'POST /api/v1/deployments/{deploymentId}/background-workers',
      'POST /api/v1/deployments/{deploymentId}/cancel',
      'POST /api/v1/deployments/{deploymentId}/progress',
      'POST /api/v1/deployments/{deploymentId}/generate-registry-credentials',
    ],
    'deploy with `millrace deploy`; `POST /api/v1/deployments` and its related operations have different bodies, because no image is built',
  ],
  [
    ['GET /api/v1/queues/{q}/metrics'],
    'use `GET /api/v1/stats` with `queue` ([metrics](metrics.md#time-series))',
  ],
  [
    [
      'POST /api/v1/query',
      'GET /api/v1/query/schema',
      'GET /api/v1/query/dashboards',
      'GET /api/v1/reports/{key}',
    ],
    'query the PostgreSQL database with SQL, or use the filters of the lists',
  ],
  [
    ['GET /api/v1/prompts', 'GET /api/v1/prompts/{slug}'],
    'Millrace does not store prompts: the code of a task defines them ([moving in](moving.md))',
  ],
  [
    [
      'POST /api/v1/runs/{id}/input-streams/wait',
      'POST /api/v1/runs/{id}/session-streams/wait',
      'POST /engine/v1/runs/{id}/wait/duration',
      'POST /engine/v1/runs/{id}/waitpoints/tokens/{waitpointId}/wait',
    ],
    "waits use the runner's connection ([waits](waits.md))",
  ],
  [['GET /api/v1/runs/{id}/spans/{spanId}'], 'use the trace of the run, which includes its spans'],
  [['POST /api/v1/tasks/batch', 'POST /api/v1/tasks/{taskId}/batch'], 'use `POST /api/v2/tasks/batch`'],
];

/** docs/access.md, from the declarations of the contract. `npx vitest run test/access/page.test.ts -u` writes it. */
export const accessPage = (): string => `# Access control

<!-- Generated from the contract by test/access/page.ts. To change this page, change an operation's access rule. -->

This page describes the credentials of Millrace, their permissions, and the access rule of every operation. A test checks the rules against every
route of a running server.

## Credentials

| Credential | Format | Identifies |
|---|---|---|
| secret key | \`svc_prod_sk_…\` | one environment of a project, with a preset and optionally a list of tasks |
| personal access token | \`svc_pat_…\` | a user, with their role in each organization |
| public token | a JWT | one environment, with scopes; it ends with the key or token that created it |
| attempt credential | \`svc_run_…\` | the code of one attempt, with the permissions of its runner's key; it ends with the attempt |
| browser session | a cookie | a user who is logged in to the [dashboard](dashboard.md#logging-in-and-permissions), with their role in each organization |

Browser sessions use a cookie. All other credentials are sent as \`Authorization: Bearer …\`. The prefix \`tr_\` is accepted in place of \`svc_\`. An
\`Authorization\` header takes precedence over the cookie.

**Revocation.** A revocation takes effect before the response in the server process that handles it, and within one second in
all others. Open requests with the credential end within the same time: event streams, long
polls, append sessions, uploads and runner connections. The same applies when a credential expires, its environment is
deleted, its branch is archived, the key that signed it is replaced, or its user leaves the organization.

If users log in with an [identity provider](login.md), the server checks their access there every 45 seconds while they use a session or a token. After
the provider has ended a user's access, these may remain valid for up to a minute.

**Branches.** The header \`x-service-branch\` (or \`x-trigger-branch\`) selects a branch of preview or dev. It has no
effect for stg and prod, or for public tokens, which belong to one environment or branch.

**Names chosen by callers.** An object with such a name is returned only to callers with access to it. A request for a
session by \`externalId\`, or for a batch by idempotency key, gets 403 if the caller may not act on its tasks.
If the session belongs to a task other than that of the request, other callers get 409.

**One-time tokens.** Request one with \`oneTimeUse\` of \`public-tokens\`, or with \`claims.otu\` of the two operations
that sign any claims. The value must be \`true\` or omitted. Other values, and the name used by the other operation, are rejected with 400. A public token
whose \`otu\` is not a boolean, or whose \`realtime\` is invalid, is rejected with 401.

**Attempt credentials.** The SDK calls the API with the credential of its attempt unless a task configures another
one. It acts as a secret key with the scopes of its runner's key, in the run's own environment or branch, as long as
the attempt has its lease. Code that continues after that gets 401 within one second. The runner signs it with its
own key, without a request to the server, for ten minutes at a time.

- Operations marked "not in runs" reject it with 403.
- It cannot connect a runner.
- It cannot set [variables that influence processes](environment-variables.md#names-that-only-administrators-may-set).
- Public tokens created with it are for single objects: each scope contains an action and an id (\`read:runs:run_1\`,
  \`trigger:tasks:mail\`). Other scopes are rejected with 403. These tokens outlive the attempt by 24 hours at most, and end
  with the runner's key.

**Hidden objects.** A caller without access to an object gets the same response whether it exists or not: 403, or 404 in
another project or environment.

## Projects and environments

A project has one stg, one prod and one preview environment, and one dev environment for each member. For a user,
\`dev\` is always their own. Its keys, branches, variables and runs are not visible to other members. It is created with
the member or the project, and ends when the member leaves. The dev environment of the first start belongs to the first
owner.

A paused environment starts no runs. Triggers are accepted and wait, with the reason \`environment_paused\`. Executing
runs continue.

Deletion must be confirmed (\`?confirm=\` with the project's ref or the environment's name) and cannot be undone. Access
ends within a second for keys, public tokens and connected runners. The data is deleted in batches, starting five
minutes later. A deleted environment is replaced with an empty one with a new key. prod can only be deleted with its
project, and the last project of an installation cannot be deleted. Archived branches, and the dev environments of
members who left, are deleted after 30 days. The [audit log](audit.md) keeps the entries.

## Lifetime of derived credentials

A credential that was created with another one never outlives it:

- A personal access token that was created with an expiring token expires with it by default. A later date is rejected with 422.
- Public tokens, tokens for appending to a channel, and packet addresses end with the secret key or token that
  created them. This includes the public tokens in the responses of triggers, batches, waitpoints and sessions. If a run
  created them, they end with the runner's key.
- Revoking a key or token also revokes its public tokens. A packet address contains no credential, and stays valid
  until it expires, at most five minutes later.

A public token without an explicit lifetime is valid for 15 minutes, or for one hour if it has a scope for
sessions.

## Login with approval

\`millrace login --approval\` requests a login as described in RFC 8628 (\`POST /api/v1/authorization-code\`, which requires no
credential). It receives two codes. With the device code it fetches the token (\`POST /api/v1/token\`). It prints the
short user code, such as \`WDJB-MJHT\`. It also opens the account page of the dashboard. There the user logs in if
needed, sees the origin of the request (host name, client, address, time) and confirms. On a machine that is already logged in,
\`millrace tokens approve <code>\` does the same. \`--yes\` confirms in scripts. The waiting machine then fetches a
personal access token of that user, once.

The information about the machine is not verified, and behind a proxy the address is that of the proxy. Approve only a code
that is displayed on your own machine. A person who sends you a code could otherwise act as you.

Both codes are valid for ten minutes. A user may try 20 codes at once, then two a minute. An address may send 60
requests at once, then one every five seconds. At most 10,000 machines may wait. Further requests are rejected with 429. A machine that polls more
often than \`interval\` gets \`slow_down\` and no token, and must increase its interval by five seconds.

The token expires after 90 days. \`--expires 30d\`, a date or \`never\` changes this (\`expiresAt\`, where null means
never). It expires no later than the token that approved it. If that token has already expired, no token is issued. A browser
session approves with the token that opened it. A session without a token, after a login with a password or an identity
provider, must be live until the new token is fetched. The audit log contains the approving token or session, and the
address that fetched the new token.

## Presets of secret keys

${['| Preset | Scopes | Scopes when restricted to a task `t` |', '|---|---|---|'].join('\n')}
${presets.map((preset) => `| \`${preset}\` | ${listed(scopesOfPreset(preset))} | ${listed(scopesOfPreset(preset, ['t']))} |`).join('\n')}

A scope is \`action:type\` or \`action:type:id\`. \`write\` includes \`trigger\`, \`batchTrigger\` and
\`deploy\`. \`admin\` includes everything. A key without \`admin\` is restricted.

\`deploy\` allows the changes that \`millrace deploy\` makes: creating the branch, uploading a version and promoting it, also as the canary. It does not
allow making an older version current, and gives no access to runs, runners or variables. The preset \`deploy-only\` can also read the variables of
its environment, because \`millrace deploy\` imports the task files with them and searches the bundle for secret values.

\`read:sources\` allows reading lines of the code of versions. Code may reveal more than runs and errors do, so only the preset
\`full\` has it. Attempt credentials do not.

## Operations

The table uses these terms:

| Term | Meaning |
|---|---|
| viewer, member, admin, owner | the lowest role that a user needs in the organization of the path |
| first owner | an owner of the organization that the first start created |
| own | the user's own objects; the role for dev too, because each member has a private dev environment |
| once | uses up a one-time token, in the same commit as the created object; a second use gets 422, and a rejected request does not use it up |
| of prod, of preview | only secret keys of that environment, others get 403: rules for grouping errors belong to a project, and only preview keys create branches |
| of the object | a scope for a related object is sufficient: to read a run, a scope for its task, one of its tags or its batch; to change a run, only a scope for its task |
| \`admin\` | restricted keys are not accepted |
| ✘ of a browser session | 403: no role may do it in a browser |
| 403 | a public token gets 403 instead of 401: its holder is known, and is never allowed to do this |

- \`write:batch\` allows filling batches. \`write:tags\` allows no changes. \`write:inputStreams:<run>\`, which the token of a run's
  handle has, only allows sending messages to the code of that run.
- Canceling a run cancels the runs that it triggered, regardless of their task. Changing the metadata or the streams of a
  run's parent or root through the run also requires a scope for these runs.
- The upload of a packet does not specify a task. It is allowed to every caller who may trigger a task, or batches of a task. The
  permission is checked for the trigger that refers to the packet. The trigger uses up a one-time token; the upload does not.
- A restricted key or a public token may refer only to packets that it uploaded, or packets of a run that it may read.
- If a batch is opened without a list of its tasks, each item is checked when it arrives.

| Operation | Request | Secret key | Personal access token | Browser session | Public token | Scope of a restricted key or public token |
|---|---|---|---|---|---|---|
${Object.values(operations).map(row).join('\n')}

## Operations of the public API that do not exist

Millrace intentionally does not implement these:

| Name | Reason |
|---|---|
${notServed.map(([names, why]) => `| ${names.map((name) => `\`${name}\``).join(', ')} | ${why} |`).join('\n')}

## Rate limits

Limits are token buckets:

- Each public token may send ${publicToken?.burst} requests at once and ${publicToken?.perSecond} a second after that.
  Tokens of one user in one environment share a bucket.
- Each personal access token may send ${personalAccessToken?.burst} at once and ${personalAccessToken?.perSecond} a
  second after that.
- Each browser session may send ${browser?.burst} at once and ${browser?.perSecond} a second after that. Logins from one address
  (for IPv6, each /64 network) are limited to ${browsers?.logins?.burst} at once and ${browsers?.logins?.perSecond} a second.
- Passwords are limited to ${browsers?.passwords?.burst} tries at once and one in ${every(browsers?.passwords)} s for each user and
  address, to ${browsers?.addressPasswords?.burst} and one in ${every(browsers?.addressPasswords)} s for each address, and to
  ${browsers?.userPasswords?.burst} and one in ${every(browsers?.userPasswords)} s for each user.
- Secret keys are not limited unless the server is started with \`MILLRACE_KEY_RATE\` (such as \`750/25\`). All keys of
  an environment then share a bucket.

These limits are never lower than those of the service that published clients were written for (60 a minute; 750 and 25).

Responses of limited calls have \`x-ratelimit-limit\`, \`x-ratelimit-remaining\` and \`x-ratelimit-reset\` (milliseconds
since 1970). A rejected call gets 429 with \`Retry-After\` in seconds. A response without these headers was not limited.

**Wrong credentials** are counted for each address (for IPv6, each /64 network). ${badCredentials?.burst} at once, and
${badCredentials?.perSecond} a second after that, get 401; further ones get 429. Valid credentials are still
accepted. A valid credential that is used incorrectly, such as a preview key without a branch, does not count. Behind a proxy,
the address is that of the proxy, unless \`MILLRACE_TRUSTED_PROXIES\` (addresses and ranges, such as \`10.0.0.0/8\`) includes
it. In that case its \`X-Forwarded-For\` is used.

**Requests without a credential** (logins, invitations) have bodies of at most 8 KiB and are counted for each address in the same way, before
their body is read: ${openRequests?.burst} at once and ${openRequests?.perSecond} a second after that. Callbacks of waitpoint tokens count only if their address is wrong.

**Requests with several items** count as several: each item of \`trigger-many\` and each event of \`event-batches\`.
Such a request is never rejected for its number of items. The bucket must refill the excess before the next request.

**Runs created several at a time** are also counted: batches, \`trigger-many\`, events (for each subscribed task),
backfills, and bulk replays of named runs. All public tokens of an environment together may create
${batchRuns?.publicToken?.burst} at once and ${batchRuns?.publicToken?.perSecond} a second after that.

Each server process has its own buckets. With N processes behind a load balancer, a caller may send up to N times the
rate. A restart refills the buckets. Add a limit in the load balancer if that is not sufficient.
`;
