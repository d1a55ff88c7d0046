import { entriesOf, type Entry } from './entry.ts';
import { noSkills, noTokens, ownSession } from './notes.ts';

const { works, members, differs, none, not } = entriesOf('export');

const inCode = 'change the prompt in the code, and deploy it';
const noQuery = 'use `millrace stats` and the lists of runs';
const noWaiters = 'declare a `webhook` whose `onEvent` completes a token of `wait.createToken`';
const neverThrown = 'never thrown';
const noScheme =
  "its signature is not verified here: declare a `webhook` of @millrace/sdk with `scheme: 'none'`, and verify `rawBody` in `onEvent`";
/** Webhook sources with a signature that the server verifies, and others. */
const sources = {
  works: ['custom', 'stripe', 'github', 'svix', 'standardWebhooks', 'clerk', 'resend', 'openai', 'replicate'],
  more: ['recallai', 'brex', 'composio'],
  not: ['square', 'discord', 'gitlab', 'whatsapp', 'hookdeck'],
};
const providers = {
  works: ['calCom', 'sentry', 'pagerduty', 'vercel', 'linear', 'notion', 'typeform', 'docusign', 'jira'],
  more: [
    'intercom',
    'attio',
    'vapi',
    'shopify',
    'loops',
    'granola',
    'autumn',
    'planetscale',
    'plain',
    'firecrawl',
  ],
  not: [
    'calendly',
    'zendesk',
    'workos',
    'elevenlabs',
    'retell',
    'metronome',
    'mux',
    'tailscale',
    'langfuse',
    'infisical',
    'supabase',
  ],
};
const updater = ['set', 'del', 'append', 'remove', 'increment', 'decrement', 'stream', 'update'];

/** The exports of `@trigger.dev/sdk` and `@trigger.dev/sdk/v3`, 4.0 to 4.8, and their members. */
export const exportRows: readonly Entry[] = [
  ...works('task', 'schemaTask', 'tasks', 'batch', 'queue', 'defineConfig'),
  ...members('tasks', 'trigger', 'batchTrigger', 'triggerAndWait', 'batchTriggerAndWait'),
  ...members('tasks', 'triggerAndSubscribe', 'onStart', 'onStartAttempt', 'onSuccess', 'onFailure'),
  ...members('tasks', 'onComplete', 'onCancel', 'onWait', 'onResume', 'middleware', 'catchError'),
  ...members('tasks', 'handleError'),
  ...members('batch', 'trigger', 'triggerAndWait', 'triggerByTask', 'triggerByTaskAndWait', 'retrieve'),
  ...works('wait', 'runs', 'schedules', 'retry', 'idempotencyKeys', 'tags'),
  ...members('wait', 'for', 'until', 'forToken', 'createToken', 'completeToken', 'retrieveToken'),
  ...members('wait', 'listTokens'),
  ...members('runs', 'replay', 'cancel', 'retrieve', 'list', 'reschedule', 'poll', 'fetchStream'),
  ...members('runs', 'subscribeToRun', 'subscribeToRunsWithTag', 'subscribeToBatch', 'bulk'),
  ...members('runs.bulk', 'cancel', 'replay', 'retrieve', 'abort', 'list', 'poll'),
  ...members('schedules', 'task', 'create', 'retrieve', 'update', 'del', 'activate', 'deactivate'),
  ...members('schedules', 'list', 'timezones'),
  ...members('retry', 'onThrow', 'fetch'),
  ...members('idempotencyKeys', 'create', 'reset'),
  ...members('tags', 'add'),
  ...works('timeout', 'locals', 'heartbeats', 'metadata', 'streams', 'logger', 'waitUntil', 'otel'),
  ...members('timeout', 'None', 'signal'),
  ...members('locals', 'create', 'get', 'getOrThrow', 'set'),
  ...members('heartbeats', 'yield', 'getLastHeartbeat'),
  ...members('metadata', 'current', 'get', 'save', 'replace', 'refresh', 'flush', 'fetchStream'),
  ...members('metadata', 'stream', ...updater.slice(0, 6), 'parent', 'root'),
  ...members('metadata.parent', ...updater),
  ...members('metadata.root', ...updater),
  ...members('streams', 'pipe', 'read', 'append', 'writer', 'define', 'input'),
  ...members('logger', 'debug', 'log', 'info', 'warn', 'error', 'trace', 'startSpan'),
  ...members('otel', 'withExternalTrace', 'metrics'),
  ...works('InMemoryCache', 'createCache', 'envvars'),
  ...members('envvars', 'upload', 'list', 'create', 'retrieve', 'update', 'del'),
  ...works('AbortTaskRunError', 'CompleteTaskWithOutput', 'SubtaskUnwrapError', 'BatchTriggerError'),
  ...works('ApiError', 'AuthenticationError', 'BadRequestError', 'ConflictError', 'InternalServerError'),
  ...works('NotFoundError', 'PermissionDeniedError', 'RateLimitError', 'UnprocessableEntityError'),
  ...works('sessions', 'SessionHandle', 'SessionInputChannel', 'SessionOutputChannel'),
  ...members('sessions', 'start', 'retrieve', 'update', 'close', 'list', 'open', 'defineChannel'),
  ...works('ChatChunkTooLargeError', 'isChatChunkTooLargeError', 'OutOfMemoryError'),
  ...works('WaitpointTimeoutError', 'ManualWaitpointPromise', 'configure', 'deployments', 'queues'),
  ...members('deployments', 'retrieveCurrent', 'list'),
  ...members('queues', 'list', 'retrieve', 'pause', 'resume', 'overrideConcurrencyLimit'),
  ...members('queues', 'resetConcurrencyLimit'),
  differs('usage', 'durations exclude waits and include other work in the same process; costs are 0'),
  ...members('usage', 'getCurrent', 'measure'),
  differs(
    'auth',
    'in the code of a task, `auth.createPublicToken` needs 4.5 or later and scopes with an object id',
  ),
  ...members('auth', 'configure', 'withAuth', 'createPublicToken', 'withPublicToken'),
  ...members('auth', 'createTriggerPublicToken', 'createBatchTriggerPublicToken'),
  ...members('auth', 'withTriggerPublicToken', 'withBatchTriggerPublicToken'),
  ...not(noTokens, 'auth.getOIDCToken'),
  ...none(neverThrown, 'OIDCTokenError'),
  differs('toolTask', 'works the same; before 4.8 only with zod 3 parameters'),
  differs('TriggerClient', 'works with a separate secret key'),
  differs(
    'prompts',
    '`define` and `resolve` work: the code defines the prompt, without versions, labels or overrides',
  ),
  ...members('prompts', 'define', 'resolve'),
  ...not(inCode, 'prompts.list', 'prompts.versions', 'prompts.promote', 'prompts.createOverride'),
  ...not(inCode, 'prompts.updateOverride', 'prompts.removeOverride', 'prompts.reactivateOverride'),
  ...not(noSkills, 'skills', 'skills.define'),
  ...not(noQuery, 'query', 'query.execute', 'query.dashboards'),
  ...not(
    noQuery,
    ...['list', 'retrieve', 'create', 'update', 'replace', 'del', 'widgets'].map(
      (name) => `query.dashboards.${name}`,
    ),
  ),
  differs(
    'concurrencyLimit',
    'a task has one `total`, its own or that of a named limit, and a named limit with `perKey` is for one task. A trigger cannot choose other limits',
  ),
  ...not('use `queues`, and `millrace queues shared` for totals', 'concurrencyLimits'),
  ...not(
    'use `queues`, and `millrace queues shared` for totals',
    ...['list', 'retrieve', 'override', 'reset', 'pause', 'resume'].map(
      (name) => `concurrencyLimits.${name}`,
    ),
  ),
  differs(
    'webhook',
    'an endpoint has one `webhook`. Its secret is the variable with its name, such as `STRIPE_WEBHOOK_SECRET`',
  ),
  differs(
    'webhooks',
    'signatures of Stripe, GitHub, Svix and Standard Webhooks work, and an HMAC of the body; see `webhook`',
  ),
  ...members('webhooks', 'constructEvent', 'SIGNATURE_HEADER_NAME', 'endpoint', 'endpoint.define'),
  ...members('webhooks', ...sources.works, ...sources.more, ...providers.works, ...providers.more),
  ...members('webhookSources', ...sources.works, ...sources.more),
  ...members('providerProducers', ...providers.works, ...providers.more),
  ...not(noScheme, ...[...sources.not, ...providers.not].map((name) => `webhooks.${name}`)),
  ...not(noScheme, ...sources.not.map((name) => `webhookSources.${name}`)),
  ...not(noScheme, ...providers.not.map((name) => `providerProducers.${name}`)),
  ...not(noWaiters, 'webhooks.waiter', 'webhooks.waiter.create', 'webhooks.waiter.wait'),
  ...not(noWaiters, 'webhooks.waiter.cancel'),
  differs('WebhookError', 'see `webhooks`'),
  differs('defineWebhookEndpoint', 'see `webhooks`'),
  differs('webhookSources', 'see `webhooks`'),
  differs('providerProducers', 'see `webhooks`'),
  ...none(neverThrown, 'WebhookEndpointNotFoundError', 'WebhookFilterError', 'WebhookIndexingError'),
  ...none(neverThrown, 'WebhookWaiterCancelledError', 'WebhookWaiterLimitError'),
  ...not(ownSession, 'chatEvent'),
  ...none('returns the key of a `chatEvent`', 'normalizeKeyString'),
];
