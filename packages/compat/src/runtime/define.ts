import { setTimeout } from 'node:timers/promises';
import type { PublishedSettings } from '@millrace/contract/runner';
import { presetOf } from '../settings/machines.ts';
import { retryPolicyOf } from '../settings/retry.ts';
import { enterAttempt, type Attempt, type CallArguments } from './attempt.ts';
import type { Catalog, CatalogTask } from './catalog.ts';
import type { PublishedContext } from './context.ts';
import { conversationPayload } from './conversation.ts';
import { fail, isNamed } from './final-errors.ts';
import type { HookFunction, HookKind, Hooks } from './hooks.ts';
import { queueOf } from './queue-of.ts';
import { eventPayload, webhookOf } from './webhook-of.ts';

/** The registered symbol under which a task object of our SDK holds its declaration. */
const brand = Symbol.for('@millrace/sdk/task');

type Call = (args: object) => unknown;
type Next = CallArguments & { readonly next: () => Promise<void> };
type Result = { readonly error?: unknown; readonly output?: unknown; readonly runPromise?: Promise<unknown> };

/**
 * A task of the published SDK converted to one of ours, so that it is executed, stopped and retried in the same way. Its hooks receive the
 * arguments of the published SDK: its `ctx`, `init` and `task`.
 */
export function definedTask(task: CatalogTask, catalog: Catalog, hooks: Hooks, settings: PublishedSettings) {
  const { id } = task;
  const machine = (task.machine && presetOf(task.machine)) ?? settings.machine;
  const isAgent = task.triggerSource === 'agent';
  const isWebhook = task.triggerSource === 'webhook';
  const enter = (call: CallArguments): Attempt =>
    enterAttempt(
      isWebhook ? { ...call, payload: eventPayload(id, call.payload, catalog.webhooks) } : call,
      machine,
    );
  const args = (attempt: Attempt) => ({
    payload: attempt.payload,
    ctx: attempt.ctx,
    signal: attempt.signal,
    task: id,
    init: attempt.init,
  });
  const noRetries = (attempt: Attempt): boolean =>
    settings.noRetriesInDev === true && attempt.ctx.environment.type === 'DEVELOPMENT';
  const attempting = (kind: HookKind) => async (call: CallArguments) => {
    const attempt = enter(call);
    try {
      if (attempt.failed) throw attempt.failed.thrown;
      for (const hook of hooks.of(kind, id)) await (hook as Call)(args(attempt));
    } catch (thrown) {
      throw fail(thrown, noRetries(attempt));
    }
  };
  const watching =
    (kind: HookKind) => async (call: CallArguments & Result & { readonly result?: unknown }) => {
      const attempt = enter(call);
      const { error, output, runPromise, result } = call;
      const more = {
        ...('error' in call && { error }),
        ...('output' in call && { output }),
        runPromise,
        result,
      };
      for (const hook of hooks.of(kind, id)) await (hook as Call)({ ...args(attempt), ...more });
    };
  /** Most tasks have no hooks, and their attempts skip the code for them. */
  const present = <T extends HookFunction>(kind: HookKind, hook: T): T | undefined =>
    hooks.has(kind, id) ? hook : undefined;
  const [start, startAttempt] = [attempting('Start'), attempting('StartAttempt')];
  const [success, failure] = [watching('Success'), watching('Failure')];
  const [complete, cancel] = [watching('Complete'), watching('Cancel')];
  const catchError = async (
    call: CallArguments & { readonly error: unknown; readonly retryDelayInMs?: number },
  ) => {
    const attempt = enter(call);
    const { error, retryDelayInMs } = call;
    const retryAt = retryDelayInMs === undefined ? undefined : new Date(Date.now() + retryDelayInMs);
    const own = hooks.ofTask('CatchError', id);
    for (const hook of [...(own ? [own] : []), ...hooks.global('CatchError').map(({ fn }) => fn)]) {
      const result = await (hook as Call)({
        ...args(attempt),
        error,
        retry: task.retry,
        retryDelayInMs,
        retryAt,
      });
      if (result) return result;
    }
    return undefined;
  };
  const definition = {
    id,
    description: task.description,
    // Agents store messages that they have read in a module variable, so two agents in one process would take each other's messages.
    isolated: isAgent || undefined,
    retry: task.retry ? retryPolicyOf(task.retry) : (settings.retry ?? { maxAttempts: 1 }),
    machine,
    maxDuration: task.maxDuration ?? settings.maxDuration,
    ttl: task.ttl ?? settings.ttl,
    scheduled: task.triggerSource === 'schedule' || undefined,
    schedule: task.schedule && {
      pattern: task.schedule.cron,
      timezone: task.schedule.timezone,
      environments: task.schedule.environments,
      window: task.schedule.window,
    },
    schema: schemaOf(task),
    lossyOutput: true,
    get middleware() {
      return hooks.isWrapped(id) ? (call: Next) => around(hooks, id, enter(call), call.next) : undefined;
    },
    get onStart() {
      return present('Start', start);
    },
    get onStartAttempt() {
      return present('StartAttempt', startAttempt);
    },
    get onSuccess() {
      return present('Success', success);
    },
    get onFailure() {
      return present('Failure', failure);
    },
    get onComplete() {
      return present('Complete', complete);
    },
    get onCancel() {
      return present('Cancel', cancel);
    },
    get catchError() {
      return present('CatchError', catchError);
    },
    async run(payload: unknown, { ctx, signal }: Omit<CallArguments, 'payload'>): Promise<unknown> {
      const attempt = enter({ payload, ctx, signal });
      try {
        if (attempt.failed) throw attempt.failed.thrown;
        const input = isAgent
          ? await conversationPayload(attempt, payload)
          : isWebhook
            ? attempt.payload
            : payload;
        return await task.fns.run(input, new RunArguments(attempt));
      } catch (thrown) {
        // Thrown by `runs.completeWithOutput` and the like.
        if (isNamed(thrown, 'CompleteTaskWithOutput')) return (thrown as { output?: unknown }).output;
        throw fail(thrown, noRetries(attempt));
      } finally {
        if (!attempt.isWrapped) {
          attempt.closeInboxes();
          if (attempt.hasDeferred) await afterDeferred(attempt);
        }
      }
    },
  };
  // Only read for the manifest, when all task files have declared their queues and limits. A process that executes tasks may import fewer
  // files.
  Object.defineProperty(definition, 'queue', { get: () => queueOf(task, catalog), enumerable: false });
  if (isWebhook)
    Object.defineProperty(definition, 'webhook', {
      get: () => webhookOf(id, catalog.webhooks),
      enumerable: false,
    });
  return { id, [brand]: definition };
}

/**
 * The second argument of a task's function. Few functions read `ctx`, so it is created lazily. All objects share one getter: V8 creates a
 * hidden class for each getter of a literal, which keeps the attempt in memory until the next full garbage collection.
 */
class RunArguments {
  static readonly #ctx: ThisType<RunArguments> & PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get(): PublishedContext {
      return this.#attempt.ctx;
    },
  };
  readonly init: unknown;
  readonly signal: AbortSignal;
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    this.init = attempt.init;
    this.signal = attempt.signal;
    this.#attempt = attempt;
    Object.defineProperty(this, 'ctx', RunArguments.#ctx);
  }
}

/** The attempt within its middleware and its `init` and `cleanup` hooks. */
async function around(
  hooks: Hooks,
  id: string,
  attempt: Attempt,
  execute: () => Promise<void>,
): Promise<void> {
  const { payload, signal } = attempt;
  attempt.isWrapped = true;
  let after: { readonly thrown: unknown } | undefined;
  const inner = async (): Promise<void> => {
    if (hooks.has('Init', id)) {
      try {
        const locals: object = {};
        for (const hook of hooks.of('Init', id)) {
          const value = await (hook as Call)({ payload, ctx: attempt.ctx, signal, task: id });
          if (typeof value === 'object' && value !== null && !Array.isArray(value))
            Object.assign(locals, value);
        }
        attempt.init = locals;
      } catch (thrown) {
        attempt.failed = { thrown };
      }
    }
    await execute();
    attempt.closeInboxes();
    // Failures after the end of the task do not affect the middleware.
    try {
      for (const hook of hooks.of('Cleanup', id))
        await (hook as Call)({ payload, ctx: attempt.ctx, signal, task: id, init: attempt.init });
      if (attempt.hasDeferred) await afterDeferred(attempt);
    } catch (thrown) {
      after = { thrown };
    }
  };
  let went = inner;
  for (const hook of hooks.of('Middleware', id).toReversed()) {
    const next = went;
    went = async () => void (await (hook as Call)({ payload, ctx: attempt.ctx, signal, task: id, next }));
  }
  await went();
  if (after) throw after.thrown;
}

/** How long, in milliseconds, an attempt waits at its end for promises registered by `waitUntil` and streams. */
const deferredMs = 60_000;

async function afterDeferred({ deferred }: Attempt): Promise<void> {
  const promises = [...deferred]
    .filter((entry) => entry.requiresResolving())
    .map(({ promise }) => (typeof promise === 'function' ? promise(deferredMs) : promise));
  if (promises.length === 0) return;
  await Promise.race([Promise.allSettled(promises), setTimeout(deferredMs, undefined, { ref: false })]);
}

/** The task's schema as a parser, regardless of its library. */
function schemaOf({ schema, payloadSchema, fns: { parsePayload } }: CatalogTask) {
  if (!parsePayload) return payloadSchema === undefined ? undefined : describedBy(payloadSchema);
  const { vendor, jsonSchema } =
    (schema as { '~standard'?: { vendor?: string; jsonSchema?: unknown } } | undefined)?.['~standard'] ?? {};
  return {
    '~standard': {
      version: 1,
      vendor: vendor ?? 'published',
      ...(jsonSchema !== undefined && { jsonSchema }),
      async validate(payload: unknown) {
        try {
          return { value: await parsePayload(payload) };
        } catch (error) {
          return { issues: [{ message: error instanceof Error ? error.message : String(error) }] };
        }
      },
    },
  };
}

/** `jsonSchema` of a task without a schema: displayed but not validated, as in the published SDK. */
const describedBy = (payloadSchema: unknown) => ({
  '~standard': {
    version: 1,
    vendor: 'published',
    jsonSchema: { input: () => payloadSchema },
    validate: (value: unknown) => ({ value }),
  },
});
