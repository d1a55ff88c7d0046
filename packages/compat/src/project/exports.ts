/** The support for an export of the published SDK. docs/moving.md shows this table; our tests run it with each minor version. */
export interface ExportRow {
  /** A member follows a dot. */
  readonly name: string;
  readonly state: 'works' | 'differs' | 'not';
  /** How it differs, or the alternative. */
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
  differs('usage', 'durations are without waits and with what else runs in the process; costs are 0'),
  differs(
    'auth',
    'in the code of a task, `auth.createPublicToken` needs 4.5 or later and scopes that name what they are for',
  ),
  differs('toolTask', 'works as there: before 4.8 with parameters of zod 3 only'),
  differs('TriggerClient', 'works with a secret key of its own'),
  differs(
    'prompts',
    '`define` and `resolve` work: a prompt is what the code defines, and has no versions, labels or overrides',
  ),
  ...['list', 'versions', 'promote', 'createOverride', 'updateOverride', 'removeOverride'].map((name) =>
    not(`prompts.${name}`, 'change the prompt in the code, and deploy it'),
  ),
  not('prompts.reactivateOverride', 'change the prompt in the code, and deploy it'),
  not('skills', 'add the folder with copyFiles'),
  not('chatEvent', 'it is for conversations that a webhook begins: as `webhook`'),
  differs(
    'webhooks',
    '`constructEvent` works. Endpoints of 4.8 do not: receive them in your own server, and trigger the task there',
  ),
  differs('WebhookError', 'as `webhooks`'),
  not('webhook', 'receive it in your own server, and trigger the task there'),
  not('defineWebhookEndpoint', 'as `webhook`'),
  not('webhookSources', 'as `webhook`'),
  not('providerProducers', 'as `webhook`'),
  not('normalizeKeyString', 'as `webhook`'),
  not('WebhookEndpointNotFoundError', 'as `webhook`'),
  not('WebhookFilterError', 'as `webhook`'),
  not('WebhookIndexingError', 'as `webhook`'),
  not('WebhookWaiterCancelledError', 'as `webhook`'),
  not('WebhookWaiterLimitError', 'as `webhook`'),
  not('OIDCTokenError', 'there is no issuer of OIDC tokens: give the task credentials as variables'),
  not('query', 'use `millrace stats` and the lists of runs'),
  differs(
    'concurrencyLimit',
    'a task holds one `total`, its own or that of a named limit, and a named limit with `perKey` is for one task. A trigger cannot choose other limits',
  ),
  not('concurrencyLimits', 'use `queues`, and `millrace queues shared` for totals'),
];
