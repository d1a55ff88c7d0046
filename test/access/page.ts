import {
  operations,
  presets,
  scopesOfPreset,
  type Access,
  type OperationDeclaration,
} from '@millrace/contract';
import { defaultRateLimits } from '../../packages/server/src/http/rate-limit.ts';

const mark = (yes: boolean | undefined): string => (yes ? '✔' : '✘');

function scopeCell({ secretKey, publicToken, action, on, objects, anyScope }: Access): string {
  if (!secretKey && !publicToken) return '–';
  if (anyScope) return 'any';
  if (action === undefined) return '`admin`';
  return `\`${action}:${on}\`${objects ? ', or of the object' : ''}`;
}

function row({ id, method, path, access }: OperationDeclaration): string {
  const { open, secretKey, personalAccessToken, publicToken, oneTime, installation, devRole } = access;
  const { role = installation ? 'first owner' : 'own' } = access;
  const cells = open
    ? ['open', 'open', 'open', '–']
    : [
        `${access.keysOf ? `of ${access.keysOf.join(', ')}` : mark(secretKey)}${access.forbidsRuns ? ' not in runs' : ''}`,
        personalAccessToken ? (devRole === undefined ? role : `${role}; of dev ${devRole}`) : '✘',
        `${mark(publicToken)}${oneTime ? ' once' : ''}${access.forbidsPublicToken ? ' 403' : ''}`,
        scopeCell(access),
      ];
  return `| ${id} | \`${method} ${path}\` | ${cells.join(' | ')} |`;
}

const listed = (scopes: readonly string[] | undefined): string =>
  scopes?.map((scope) => `\`${scope}\``).join(', ') ?? '–';

const { publicToken, personalAccessToken, badCredentials, batchRuns } = defaultRateLimits;

/** Names of the public API that have no operation here, and why. */
export const notServed: readonly (readonly [names: readonly string[], why: string])[] = [
  [
    ['POST /api/v1/projects/{ref}/{env}/default-region'],
    'runs go to whichever runner serves their environment: a default would change nothing ([triggering](triggering.md))',
  ],
  [
    ['GET /api/v1/projects/runtimes'],
    'tasks run on the Node of the machine that their runner was started on; the server has none to offer',
  ],
  [
    ['GET /api/v1/projects/{ref}/alertChannels', 'POST /api/v1/projects/{ref}/alertChannels'],
    'notification endpoints do this, of an environment and signed; no mail and no chat message is sent ([events](events.md))',
  ],
  [
    ['GET /api/v1/webhooks/endpoints', 'GET /api/v1/webhooks/deliveries'],
    'what comes in from outside is sent as an event, with `POST /api/v1/events`',
  ],
  [
    [
      'GET /api/v1/deployments',
      'POST /api/v1/deployments',
      'GET /api/v1/deployments/latest',
      'GET /api/v1/deployments/current',
      'POST /api/v1/deployments/{version}/promote',
    ],
    'a runner brings its code along and registers a version of it (`registerVersion`), which is the current one from then on; nothing is built or uploaded',
  ],
  [
    ['GET /api/v1/queues/{q}/metrics'],
    'how long runs waited is not kept for each queue; `/metrics` and the reason of each run say how things stand',
  ],
  [
    [
      'POST /api/v1/query',
      'GET /api/v1/query/schema',
      'GET /api/v1/query/dashboards',
      'GET /api/v1/reports/{key}',
    ],
    'everything is in one PostgreSQL, which answers SQL itself; lists of the API are filtered',
  ],
  [['GET /api/v1/prompts', 'GET /api/v1/prompts/{slug}'], 'prompts are no part of this product'],
  [
    [
      'POST /api/v1/runs/{id}/input-streams/wait',
      'POST /api/v1/runs/{id}/session-streams/wait',
      'POST /realtime/v1/streams/{runId}/input/{streamId}',
    ],
    'who has more to tell a run tells it to its session, and a task waits for it there ([sessions](sessions.md))',
  ],
  [
    [
      'POST /engine/v1/runs/{id}/wait/duration',
      'POST /engine/v1/runs/{id}/waitpoints/tokens/{waitpointId}/wait',
    ],
    'a run waits over the connection of its runner ([waits](waits.md))',
  ],
  [
    ['GET /api/v1/sessions/{session}/snapshot-url', 'PUT /api/v1/sessions/{session}/snapshot-url'],
    'what a task remembers of a session is in its channels, or where the task keeps its own data',
  ],
  [['GET /api/v1/runs/{id}/spans/{spanId}'], 'the trace of a run has its spans whole'],
  [
    ['POST /api/v1/tasks/batch', 'POST /api/v1/tasks/{taskId}/batch'],
    'what they did, `POST /api/v2/tasks/batch` does',
  ],
];

/** docs/access.md, from the declarations of the contract. `npx vitest run test/access/page.test.ts -u` writes it. */
export const accessPage = (): string => `# Who may do what

Written from the contract by test/access/page.ts, and tested against every route of a running server: change the access rule of
an operation, not this page.

## Credentials

| Credential | Looks like | Stands for |
|---|---|---|
| secret key | \`svc_prod_sk_…\` | one environment of a project, by its preset and tasks |
| personal access token | \`svc_pat_…\` | a user, by their role in each organisation |
| public token | a JWT | one environment, by its scopes; ends with the key or token it was made through |
| credential of an attempt | \`svc_run_…\` | the code of one attempt, by the key of its runner; ends with the attempt |

All travel as \`Authorization: Bearer …\`. The marker \`tr_\` is accepted for \`svc_\`. A revocation is in force when it is answered
in the server process that answers it, and in every other one within one second. What is open under the credential ends in that time, too:
event streams, long polls, append sessions, uploads and the connections of runners. So it is with whatever else ends a credential: it
expires, its environment is deleted or its branch archived, the key that signed it is replaced, or its user leaves the organisation.

A branch of preview or dev is named by the header \`x-service-branch\` (or \`x-trigger-branch\`). It changes nothing for stg and prod,
and nothing for public tokens, which are of one environment or branch.

What is found by a name of the caller's choosing is theirs only if they may have it: a session under an \`externalId\`, a batch under an
idempotency key are 403 for who may not act on their tasks, and a session of another task than the request's is 409 for all others.

A one-time token is asked for with \`oneTimeUse\` of \`public-tokens\`, or with \`claims.otu\` of the two that sign any claims: \`true\`, or leave it
out; anything else, or the name of the other, is 400. A public token whose \`otu\` is neither true nor false, or whose \`realtime\` cannot be understood, is refused (401).

The SDK calls the API with the credential of its attempt wherever a task gives no other. It counts as a secret key with the scopes of its
runner's key, in the run's own environment or branch, as long as the attempt has its lease: what code leaves behind gets 401 within one
second. Its runner signs it with its own key, without asking the server, for ten minutes at a time. Operations marked "not in runs" refuse it
with 403, it connects no runner, and it sets no [variable that steers processes](environment-variables.md#names-that-only-administrators-may-set).
Public tokens that a run makes are for single objects: each scope names an action and an id (\`read:runs:run_1\`, \`trigger:tasks:mail\`), others
are refused with 403. They live on after the attempt, for 24 hours at most, and end with the runner's key.

Whoever may not see an object is told the same (403, or 404 in another project or environment) whether it exists or not.

## Projects and environments

A project has stg, prod and preview once, and dev once for each member: to a user, \`dev\` is always their own, with keys, branches,
variables and runs that no other member sees. It is made when the member or the project comes, and ends when the member leaves. The
dev environment of the first start is the first owner's.

A paused environment starts no runs; triggers are taken and wait, and the reason of each says \`environment_paused\`. What executes goes on.

Deleting must be confirmed (\`?confirm=\` with the project's ref, or the environment's name) and cannot be undone. Access ends at once: keys,
public tokens and connected runners within a second. The data goes in batches, from five minutes later. A deleted environment leaves an empty
one with a new key in its place; prod goes with its project only, and the only project of an installation stays. Archived branches, and
the dev environments of members who left, are deleted after 30 days. The [audit log](audit.md) keeps the acts.

A personal access token that ends makes none that outlives it: one made through it without a date ends with it, and a later date is 422.

Nothing that is made through a secret key or a token with an end outlives that: public tokens that are asked for, those that come with a
trigger, a batch, a waitpoint or a session, those that append to a channel, and the addresses of packets end with it if they would end
later. Of what a run makes, the end of its runner's key counts. A key or token that is revoked takes its public tokens along, but an address of
a packet holds no credential: it stays good until its own end, at most five minutes later. A public token that is asked for without a time lives for
15 minutes; for one hour if one of its scopes is of sessions.

## Logging in where no token is

\`millrace login --approval\` asks the server to be let in (\`POST /api/v1/authorization-code\`, open to anybody), as RFC 8628 does. It gets two
codes: one that it keeps, by which it fetches the token (\`POST /api/v1/token\`), and a short one that it prints, such as \`WDJB-MJHT\`. Its
user gives the short one where they are logged in already: \`millrace tokens approve <code>\` shows who asks (host name, client, address,
time), asks whether to let it in, and \`--yes\` answers that for scripts. The waiting machine then fetches a personal access token of that user, once.

What a machine says of itself proves nothing, and behind a proxy the address is the proxy's: approve only a code that you see on your own
machine. Whoever sent you one would act as you.

Both codes are good for ten minutes. A user may try 20 codes at once and two a minute after that, an address may ask 60 times and then
every five seconds, and 10,000 machines may wait; more is 429. A machine that fetches more often than \`interval\` says is told
\`slow_down\`, gets nothing, and has to wait five seconds longer from then on.

The token ends after 90 days; \`--expires 30d\`, a date or \`never\` say otherwise (\`expiresAt\`, where null is never). It ends no later than the
token that approved it, and where that one has ended by then there is none. The audit log says by which token it was approved and from
which address it was fetched.

## Presets of secret keys

${['| Preset | Scopes | Scopes when restricted to a task `t` |', '|---|---|---|'].join('\n')}
${presets.map((preset) => `| \`${preset}\` | ${listed(scopesOfPreset(preset))} | ${listed(scopesOfPreset(preset, ['t']))} |`).join('\n')}

A scope is \`action:type\` or \`action:type:id\`. \`write\` covers \`trigger\` and \`batchTrigger\`; \`admin\` alone is everything. A key
without \`admin\` is restricted.

## Operations

A role is the least one that a user needs in the organisation that the path leads to (viewer, member, admin, owner); "first owner" is an owner of
the organisation that the first start made; "own" concerns
what is the user's own, and so does the role for dev: every member has a dev environment of their own, which only they see. "once" uses a one-time token up: the created thing and the use are one commit, a second use is 422, a request
that is refused uses nothing up. "of prod" and "of preview" are secret keys of those environments; others are refused with 403: rules that
group errors are a project's, and only preview keys branch. "of the object" means that a scope of another identity of the object is
enough: of a run that is read its task, a tag or its batch; of a run that is changed its task, and nothing else. \`write:batch\` fills
batches, and \`write:tags\` changes nothing. To cancel a run cancels what it triggered, whatever task that is of; to change the metadata or
the streams of a run's parent or root through it needs a scope of these, too. An upload of a packet names no task, so whoever may trigger some task, or batches of it, may upload; the trigger that names the packet says which task, and
uses a one-time token up, which the upload does not. A restricted key or a public token names only a packet that it sent itself, or that a
run has which it may read. A batch that is opened without saying what for asks for each item when it comes. \`admin\` means that no restricted key will do. "403" refuses a public token with that instead of 401: its holder is known, and
may never do this.

| Operation | Request | Secret key | Personal access token | Public token | Scope of a restricted key or public token |
|---|---|---|---|---|---|
${Object.values(operations).map(row).join('\n')}

## Names of the public API that are not served

There is no operation for these, on purpose.

| Name | Why not |
|---|---|
${notServed.map(([names, why]) => `| ${names.map((name) => `\`${name}\``).join(', ')} | ${why} |`).join('\n')}

## Rate limits

Token buckets: each public token may send ${publicToken?.burst} requests at once and ${publicToken?.perSecond} a second after that (tokens of one
user in one environment share a bucket), each personal access token ${personalAccessToken?.burst} and ${personalAccessToken?.perSecond}: never less
than the service that published clients were made for (60 a minute; 750 and 25). Secret keys are not limited unless the server is started
with \`MILLRACE_KEY_RATE\` (such as \`750/25\`); then all keys of an environment share a bucket. Replies of limited calls carry
\`x-ratelimit-limit\`, \`x-ratelimit-remaining\` and \`x-ratelimit-reset\` (milliseconds since 1970); a refusal is 429 with \`Retry-After\`
in seconds. A reply without these headers was not limited: there is no number that would be true of it.

Wrong credentials are counted for the address that they come from (for a /64 network of IPv6): ${badCredentials?.burst} at once and ${badCredentials?.perSecond} a second after
that are answered with 401, more with 429. A good credential is let in all the same, and one that is only used wrongly (a key of preview without its branch) does not count. Behind a proxy the address is the proxy's, unless
\`MILLRACE_TRUSTED_PROXIES\` (addresses and ranges, such as \`10.0.0.0/8\`) names it: then its \`X-Forwarded-For\` is believed.

A request that stands for several counts as several: each item of \`trigger-many\` and each event of \`event-batches\`. It is not refused for
being large; what it takes beyond the bucket has to be paid off before the next. Runs that come several to a request are counted beside
that, whatever they come from (batches, \`trigger-many\`, events by the tasks that are subscribed, backfills, bulk replays of named runs): ${batchRuns?.publicToken?.burst} at once and ${batchRuns?.publicToken?.perSecond} a
second for all public tokens of an environment together.

The buckets are held in each server process. With N processes behind a balancer a caller is allowed at most N times the rate, and a
restart fills the buckets. Put a limit in the balancer where that is not good enough.
`;
