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
    'use events for incoming messages: `POST /api/v1/events`',
  ],
  [
    [
      'POST /api/v1/deployments/{deploymentId}/background-workers',
      'POST /api/v1/deployments/{deploymentId}/cancel',
      'POST /api/v1/deployments/{deploymentId}/progress',
      'POST /api/v1/deployments/{deploymentId}/generate-registry-credentials',
    ],
    'deploy with `millrace deploy`; `POST /api/v1/deployments` and what belongs to it have bodies of their own, because no image is built',
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
    'Millrace keeps no prompts: they are what the code of a task defines ([moving in](moving.md))',
  ],
  [
    [
      'POST /api/v1/runs/{id}/input-streams/wait',
      'POST /api/v1/runs/{id}/session-streams/wait',
      'POST /engine/v1/runs/{id}/wait/duration',
      'POST /engine/v1/runs/{id}/waitpoints/tokens/{waitpointId}/wait',
    ],
    'waits use the connection of the runner ([waits](waits.md))',
  ],
  [['GET /api/v1/runs/{id}/spans/{spanId}'], 'use the trace of the run, which includes its spans'],
  [['POST /api/v1/tasks/batch', 'POST /api/v1/tasks/{taskId}/batch'], 'use `POST /api/v2/tasks/batch`'],
];

/** docs/access.md, from the declarations of the contract. `npx vitest run test/access/page.test.ts -u` writes it. */
export const accessPage = (): string => `# Access control

This page is generated from the contract by test/access/page.ts, and tested against every route of a running server. To
change it, change the access rule of an operation.

## Credentials

| Credential | Format | Identifies |
|---|---|---|
| secret key | \`svc_prod_sk_…\` | one environment of a project, with a preset and optionally a list of tasks |
| personal access token | \`svc_pat_…\` | a user, with their role in each organization |
| public token | a JWT | one environment, with scopes; it ends with the key or token it was made with |
| credential of an attempt | \`svc_run_…\` | the code of one attempt, with the permissions of its runner's key; it ends with the attempt |
| browser session | a cookie | a user who is logged in to the [dashboard](dashboard.md#who-may-look), with their role in each organization |

All credentials but browser sessions are sent as \`Authorization: Bearer …\`. The prefix \`tr_\` is accepted for \`svc_\`. An
\`Authorization\` header wins over the cookie.

**Revocation.** In the server process that answers it, a revocation is in force when it is answered; in every other
process within one second. Everything that is open under the credential ends within that time too: event streams, long
polls, append sessions, uploads and runner connections. The same holds when a credential expires, its environment is
deleted, its branch is archived, the key that signed it is replaced, or its user leaves the organization.

Users of an [identity provider](login.md) are asked about there every 45 seconds while they use a session or a token. It
may take a minute until these end after the provider has ended the user's access.

**Branches.** The header \`x-service-branch\` (or \`x-trigger-branch\`) names a branch of preview or dev. It has no
effect for stg and prod, and none for public tokens, which belong to one environment or branch.

**Names chosen by callers.** An object that is found by such a name is returned only to callers who may access it. A
session under an \`externalId\`, or a batch under an idempotency key, is 403 for callers who may not act on its tasks.
If the session belongs to another task than the request's, all others get 409.

**One-time tokens.** Request one with \`oneTimeUse\` of \`public-tokens\`, or with \`claims.otu\` of the two operations
that sign any claims. The value is \`true\` or left out; anything else, or the name of the other, is 400. A public token
whose \`otu\` is neither true nor false, or whose \`realtime\` is invalid, is refused (401).

**Credentials of attempts.** The SDK calls the API with the credential of its attempt unless a task configures another
one. It counts as a secret key with the scopes of its runner's key, in the run's own environment or branch, as long as
the attempt has its lease. Code that is left running after that gets 401 within one second. The runner signs it with its
own key, without asking the server, for ten minutes at a time.

- Operations marked "not in runs" refuse it with 403.
- It cannot connect a runner.
- It cannot set [variables that influence processes](environment-variables.md#names-that-only-administrators-may-set).
- Public tokens made with it are for single objects: each scope names an action and an id (\`read:runs:run_1\`,
  \`trigger:tasks:mail\`). Others are refused with 403. These tokens outlive the attempt, for 24 hours at most, and end
  with the runner's key.

**Hidden objects.** A caller who may not see an object gets the same answer whether it exists or not: 403, or 404 in
another project or environment.

## Projects and environments

A project has one stg, one prod and one preview environment, and one dev environment for each member. For a user,
\`dev\` is always their own. Its keys, branches, variables and runs are not visible to other members. It is created with
the member or the project, and ends when the member leaves. The dev environment of the first start belongs to the first
owner.

A paused environment starts no runs. Triggers are accepted and wait, with the reason \`environment_paused\`. Executing
runs continue.

Deletion must be confirmed (\`?confirm=\` with the project's ref or the environment's name) and cannot be undone. Access
ends within a second, for keys, public tokens and connected runners. The data is deleted in batches, starting five
minutes later. A deleted environment is replaced with an empty one that has a new key. prod can only be deleted with its
project, and the only project of an installation cannot be deleted. Archived branches, and the dev environments of
members who left, are deleted after 30 days. The [audit log](audit.md) keeps the entries.

## Lifetime of derived credentials

A credential that is made through another one never outlives it:

- A personal access token made through one that expires ends with it by default. A later date is refused with 422.
- Public tokens, tokens for appending to a channel, and addresses of packets end with the secret key or token that they
  were made through. This includes the public tokens in the answers of triggers, batches, waitpoints and sessions. For
  those of a run, the runner's key counts.
- Revoking a key or token also revokes its public tokens. The address of a packet holds no credential, and stays valid
  until its own end, at most five minutes later.

A public token without an explicit lifetime is valid for 15 minutes, or for one hour if one of its scopes is of
sessions.

## Login with approval

\`millrace login --approval\` requests a login as described in RFC 8628 (\`POST /api/v1/authorization-code\`, open to
anybody). It gets two codes. It keeps one, with which it fetches the token (\`POST /api/v1/token\`), and prints the
other, a short one such as \`WDJB-MJHT\`. It also opens the account page of the dashboard, where the user logs in if
needed, sees who asks (host name, client, address, time) and confirms. Where the command line is already logged in,
\`millrace tokens approve <code>\` does the same. \`--yes\` confirms in scripts. The waiting machine then fetches a
personal access token of that user, once.

The information about the machine is not verified, and behind a proxy the address is the proxy's. Approve only a code
that you see on your own machine. Anyone who sent you a code could act as you.

Both codes are valid for ten minutes. A user may try 20 codes at once and two a minute after that. An address may ask 60
times and then every five seconds. At most 10,000 machines may wait. More is refused with 429. A machine that asks more
often than \`interval\` gets \`slow_down\` and no token, and must wait five seconds longer from then on.

The token ends after 90 days. \`--expires 30d\`, a date or \`never\` changes this (\`expiresAt\`, where null means
never). It ends no later than the token that approved it; if that one has already ended, no token is issued. A browser
session approves with the token that it was opened with. One without, after a login with a password or an identity
provider, must be live until the token is fetched. The audit log has the token or session that approved it and the
address that fetched it.

## Presets of secret keys

${['| Preset | Scopes | Scopes when restricted to a task `t` |', '|---|---|---|'].join('\n')}
${presets.map((preset) => `| \`${preset}\` | ${listed(scopesOfPreset(preset))} | ${listed(scopesOfPreset(preset, ['t']))} |`).join('\n')}

A scope is \`action:type\` or \`action:type:id\`. \`write\` includes \`trigger\`, \`batchTrigger\` and
\`deploy\`. \`admin\` includes everything. A key without \`admin\` is restricted.

\`deploy\` is what \`millrace deploy\` changes: it creates the branch, uploads a version and promotes it, also as the canary. It does not
make an older version current, and gives no right on runs, runners or variables. The preset \`deploy-only\` also reads the variables of
its environment, because \`millrace deploy\` imports the task files with them and looks for secret values in the bundle.

\`read:sources\` is about the code of versions, of which it shows lines. Code may say more than runs and errors do, so only the preset
\`full\` has it, and the credential of a run does not.

## Operations

These terms are used in the table:

| Term | Meaning |
|---|---|
| viewer, member, admin, owner | the lowest role that a user needs in the organization of the path |
| first owner | an owner of the organization that the first start created |
| own | concerns what belongs to the user; so does the role for dev, because each member has a dev environment that only they see |
| once | uses a one-time token up, in the same commit as the created object; a second use is 422, and a refused request uses nothing up |
| of prod, of preview | only secret keys of that environment, others get 403: rules that group errors belong to a project, and only preview keys create branches |
| of the object | a scope of another identity of the object suffices: to read a run, its task, one of its tags or its batch; to change a run, only its task |
| \`admin\` | restricted keys are not accepted |
| ✘ of a browser session | 403: no role may do it in a browser |
| 403 | a public token gets 403 instead of 401: its holder is known, and may never do this |

- \`write:batch\` fills batches. \`write:tags\` allows no changes. \`write:inputStreams:<run>\`, which the token of a run's
  handle has, sends messages to the code of that run, and no more.
- Cancelling a run cancels the runs that it triggered, whatever their task. Changing the metadata or the streams of a
  run's parent or root through the run needs a scope of these too.
- Uploading a packet names no task, so anyone who may trigger any task, or batches of it, may upload. The trigger that
  names the packet decides on the task. It uses a one-time token up; the upload does not.
- A restricted key or a public token may name only packets that it uploaded, or packets of a run that it may read.
- A batch that is opened without naming its tasks is checked for each item when it arrives.

| Operation | Request | Secret key | Personal access token | Browser session | Public token | Scope of a restricted key or public token |
|---|---|---|---|---|---|---|
${Object.values(operations).map(row).join('\n')}

## Names of the public API that are not served

There is intentionally no operation for these:

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

These are never lower than the limits of the service for which published clients were made (60 a minute; 750 and 25).

Responses of limited calls have \`x-ratelimit-limit\`, \`x-ratelimit-remaining\` and \`x-ratelimit-reset\` (milliseconds
since 1970). A refusal is 429 with \`Retry-After\` in seconds. A response without these headers was not limited.

**Wrong credentials** are counted for each address (for IPv6, each /64 network). ${badCredentials?.burst} at once and
${badCredentials?.perSecond} a second after that are answered with 401, more with 429. Valid credentials are still
accepted. A valid credential that is used wrongly (a key of preview without its branch) does not count. Behind a proxy
the address is the proxy's, unless \`MILLRACE_TRUSTED_PROXIES\` (addresses and ranges, such as \`10.0.0.0/8\`) includes
it. Then its \`X-Forwarded-For\` is used.

**Requests without a credential** (logins, invitations) have bodies of at most 8 KiB and are counted for each address in the same way, before
their body is read: ${openRequests?.burst} at once and ${openRequests?.perSecond} a second after that. Callbacks of waitpoint tokens count only if their address is wrong.

**Requests with several items** count as several: each item of \`trigger-many\` and each event of \`event-batches\`.
Such a request is not refused for its size. What exceeds the bucket has to be refilled before the next request.

**Runs created several at a time** are also counted: batches, \`trigger-many\`, events (for each subscribed task),
backfills, and bulk replays of named runs. All public tokens of an environment together may create
${batchRuns?.publicToken?.burst} at once and ${batchRuns?.publicToken?.perSecond} a second after that.

Each server process has its own buckets. With N processes behind a load balancer, a caller may send up to N times the
rate, and a restart refills the buckets. Add a limit in the load balancer if that is not sufficient.
`;
