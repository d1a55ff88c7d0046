import { entriesOf, type Entry } from './entry.ts';

const { works, members, differs, none, not } = entriesOf('export');
const agents = entriesOf('agents');
const modules = entriesOf('module');

const inCode = 'change the prompt in the code, and deploy it';
const noTokens = 'Millrace does not issue OIDC tokens: set credentials for the task as variables';
const noQuery = 'use `millrace stats` and the lists of runs';
const noWaiters = 'declare a `webhook` whose `onEvent` completes a token of `wait.createToken`';
const neverThrown = 'never thrown';
const ownSession = 'start the session in `onEvent` of a `webhook`, with `sessions.start`';
const noChannels = 'receive messages with a `webhook`, and reply with the API of Slack or Linear in the task';
const updater = ['set', 'del', 'append', 'remove', 'increment', 'decrement', 'stream', 'update'];

/** The exports of `@trigger.dev/sdk` and `@trigger.dev/sdk/v3`, 4.0 to 4.8, and their members. */
const exportRows: readonly Entry[] = [
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
  ...not('add the folder with copyFiles, and read its files', 'skills', 'skills.define'),
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
    ...['list', 'retrieve', 'override', 'reset', 'pause', 'resume'].map((name) => `concurrencyLimits.${name}`),
  ),
  differs(
    'webhook',
    'an endpoint has one `webhook`. The variable with its secret has the name of the endpoint: see [webhooks](webhooks.md#from-the-published-sdk)',
  ),
  differs('webhooks', 'sources with the signatures of [webhooks](webhooks.md#verification) work; see `webhook`'),
  ...members('webhooks', 'constructEvent', 'SIGNATURE_HEADER_NAME', 'endpoint', 'endpoint.define'),
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

/** The exports of `@trigger.dev/sdk/ai` that are not supported. All others work. */
const agentRows: readonly Entry[] = [
  ...agents.not(ownSession, 'chat.event'),
  ...agents.not(noChannels, 'chat.channels', 'chat.channels.custom'),
  ...agents.none('conversations have no other surface', 'chat.surface'),
  ...agents.not('add the folder with copyFiles, and read its files', 'buildSkillTools'),
];

/** The other entry points of `@trigger.dev/sdk`, and packages for projects of it. */
const moduleRows: readonly Entry[] = [
  ...modules.works('@trigger.dev/sdk', '@trigger.dev/sdk/v3', '@trigger.dev/sdk/ai', '@trigger.dev/sdk/chat'),
  ...modules.works('@trigger.dev/sdk/chat/react', '@trigger.dev/sdk/chat-server', '@trigger.dev/sdk/ai/test'),
  ...modules.works('@trigger.dev/react-hooks', '@trigger.dev/core'),
  modules.differs('@trigger.dev/build', 'extensions that change the image of a deployment have no effect'),
  ...modules.not('add the folder with copyFiles, and read its files', '@trigger.dev/sdk/ai/skills-runtime'),
  ...modules.not(noTokens, '@trigger.dev/sdk/oidc/aws'),
  ...modules.not(
    'Python is not part of a deployment here: start scripts with node:child_process',
    '@trigger.dev/python',
  ),
  ...modules.not(noChannels, '@trigger.dev/slack', '@trigger.dev/linear'),
];

export { agentRows, exportRows, moduleRows };
