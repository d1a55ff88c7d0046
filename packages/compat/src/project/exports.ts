/** The support for an export of the published SDK. docs/moving.md shows this table; our tests run it with each minor version. */
export interface ExportRow {
  /** A member follows a dot. */
  readonly name: string;
  readonly state: 'works' | 'differs' | 'not';
  /** How it differs, or what to use instead. */
  readonly note?: string;
}

const works = (...names: string[]): ExportRow[] => names.map((name) => ({ name, state: 'works' }));
const differs = (name: string, note: string): ExportRow => ({ name, state: 'differs', note });
const not = (name: string, note: string): ExportRow => ({ name, state: 'not', note });

/** The exports of `@trigger.dev/sdk` and `@trigger.dev/sdk/v3`, 4.0 to 4.8. */
export const exportRows: readonly ExportRow[] = [
  ...works('task', 'schemaTask', 'tasks', 'batch', 'queue', 'defineConfig'),
  ...works(
    'wait',
    'runs',
    'schedules',
    'retry',
    'idempotencyKeys',
    'tags',
    'timeout',
    'locals',
    'heartbeats',
  ),
  ...works('metadata', 'streams', 'logger', 'waitUntil', 'otel', 'InMemoryCache', 'createCache', 'envvars'),
  ...works('AbortTaskRunError', 'CompleteTaskWithOutput', 'SubtaskUnwrapError', 'BatchTriggerError'),
  ...works('ApiError', 'AuthenticationError', 'BadRequestError', 'ConflictError', 'InternalServerError'),
  ...works('NotFoundError', 'PermissionDeniedError', 'RateLimitError', 'UnprocessableEntityError'),
  ...works('sessions', 'SessionHandle', 'SessionInputChannel', 'SessionOutputChannel'),
  ...works('ChatChunkTooLargeError', 'isChatChunkTooLargeError', 'OutOfMemoryError'),
  ...works('WaitpointTimeoutError', 'ManualWaitpointPromise', 'configure', 'deployments', 'queues'),
  differs('usage', 'durations exclude waits and include other work in the same process; costs are 0'),
  differs(
    'auth',
    'in the code of a task, `auth.createPublicToken` needs 4.5 or later and scopes with an object id',
  ),
  differs('toolTask', 'works the same; before 4.8 only with zod 3 parameters'),
  differs('TriggerClient', 'works with a separate secret key'),
  differs(
    'prompts',
    '`define` and `resolve` work: the code defines the prompt, without versions, labels or overrides',
  ),
  ...['list', 'versions', 'promote', 'createOverride', 'updateOverride', 'removeOverride'].map((name) =>
    not(`prompts.${name}`, 'change the prompt in the code, and deploy it'),
  ),
  not('prompts.reactivateOverride', 'change the prompt in the code, and deploy it'),
  not('skills', 'add the folder with copyFiles'),
  not('chatEvent', 'for conversations that a webhook starts: see `webhook`'),
  differs(
    'webhooks',
    '`constructEvent` works. Endpoints of 4.8 do not: declare them with `webhook` of @millrace/sdk',
  ),
  differs('WebhookError', 'see `webhooks`'),
  not('webhook', 'declare it with `webhook` of @millrace/sdk'),
  not('defineWebhookEndpoint', 'see `webhook`'),
  not('webhookSources', 'see `webhook`'),
  not('providerProducers', 'see `webhook`'),
  not('normalizeKeyString', 'see `webhook`'),
  not('WebhookEndpointNotFoundError', 'see `webhook`'),
  not('WebhookFilterError', 'see `webhook`'),
  not('WebhookIndexingError', 'see `webhook`'),
  not('WebhookWaiterCancelledError', 'see `webhook`'),
  not('WebhookWaiterLimitError', 'see `webhook`'),
  not('OIDCTokenError', 'Millrace does not issue OIDC tokens: set credentials for the task as variables'),
  not('query', 'use `millrace stats` and the lists of runs'),
  differs(
    'concurrencyLimit',
    'a task has one `total`, its own or that of a named limit, and a named limit with `perKey` is for one task. A trigger cannot choose other limits',
  ),
  not('concurrencyLimits', 'use `queues`, and `millrace queues shared` for totals'),
];
