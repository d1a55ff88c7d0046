import {
  concurrencyLimit,
  defineWebhookEndpoint,
  logger,
  normalizeKeyString,
  OIDCTokenError,
  providerProducers,
  queue,
  task,
  tasks,
  webhook,
  webhooks,
  webhookSources,
} from '@trigger.dev/sdk';
import { setTimeout } from 'node:timers/promises';

export const wide = queue({ name: 'wide', concurrencyLimit: 7 });
export const fast = concurrencyLimit({ name: 'fast', total: 5 });

/** Returns its payload and the effects of the options of its trigger. */
export const echo = task({
  id: 'echo',
  run: async (payload: unknown, { ctx }) => ({
    payload,
    version: ctx.run.version,
    maxAttempts: ctx.run.maxAttempts,
    maxDuration: ctx.run.maxDuration,
    priority: ctx.run.priority,
    concurrencyKey: (ctx.run as { concurrencyKey?: string }).concurrencyKey,
    tags: ctx.run.tags,
    queue: ctx.queue.name,
    machine: ctx.machine?.name,
  }),
});

export const triggersAll = task({
  id: 'triggers-all',
  run: async (_: unknown, { ctx }) => {
    const result = await echo.triggerAndWait('all', {
      maxAttempts: 2,
      maxDuration: 77,
      machine: 'micro',
      queue: 'wide',
      concurrencyKey: 'a key',
      priority: 5,
      tags: ['tagged'],
      metadata: { from: 'a trigger' },
      ttl: '40m',
      region: 'eu-central-1',
    });
    const first = await echo.trigger('first', { idempotencyKey: 'k', idempotencyKeyTTL: '1s' });
    const same = await echo.trigger('second', { idempotencyKey: 'k', idempotencyKeyTTL: '1s' });
    let other = same;
    while (other.id === first.id) other = await echo.trigger('third', { idempotencyKey: 'k' });
    const later = await echo.trigger('later', { delay: '2s', version: ctx.run.version });
    const pinned = await echo.trigger('pinned', { externalDeploymentId: 'not-deployed-yet' });
    const batchOptions = { idempotencyKey: 'b', idempotencyKeyTTL: '1h', triggerSequentially: true };
    const batches = [
      await echo.batchTrigger([{ payload: 1 }, { payload: 2, options: { tags: ['in-batch'] } }], {
        idempotencyKey: 'b',
        idempotencyKeyTTL: '1h',
        triggerSequentially: true,
      }),
      await echo.batchTrigger([{ payload: 1 }, { payload: 2 }], batchOptions),
    ];
    return {
      all: result.ok && result.output,
      run: result.id,
      isSame: same.id === first.id,
      later: later.id,
      pinned: pinned.id,
      batches: batches.map(({ batchId }) => batchId),
    };
  },
});

/** The run ends although triggers with its key never stop. */
export const debounces = task({
  id: 'debounces',
  run: async () => {
    const trigger = async (payload: number): Promise<string> =>
      (
        await echo.trigger(payload, {
          debounce: { key: 'busy', delay: '2s', mode: 'trailing', maxDelay: '3s' },
        })
      ).id;
    const first = await trigger(1);
    let count = 1;
    while ((await trigger((count += 1))) === first) await setTimeout(100);
    return { first, count };
  },
});

export const refusedLimits = task({
  id: 'refused-limits',
  run: async () => {
    // Not visible in the code, so that the project can be loaded.
    const options = JSON.parse('{"concurrency":"fast"}') as object;
    return echo.trigger('x', options).catch((error: Error) => error.message);
  },
});

export const sleeper = task({
  id: 'sleeper',
  run: async (_: unknown, { signal }) => {
    await setTimeout(60_000, undefined, { signal });
  },
  onCancel: async ({ runPromise, signal }) => {
    logger.info('canceled', { hasPromise: runPromise instanceof Promise, aborted: signal.aborted });
  },
});

export const abandons = task({
  id: 'abandons',
  run: async () => {
    const stop = new AbortController();
    const result = tasks.triggerAndSubscribe<typeof sleeper>(
      'sleeper',
      {},
      { signal: stop.signal, cancelOnAbort: true, tags: ['abandoned'] },
    );
    setImmediate(() => void setTimeout(500).then(() => stop.abort()));
    return result.then(
      () => 'ended',
      () => 'aborted',
    );
  },
});

const attempts: number[] = [];
const failing = async (_: unknown, { ctx }: { ctx: { attempt: { number: number } } }): Promise<number> => {
  if (ctx.attempt.number === 1) throw new Error('first');
  return ctx.attempt.number;
};
/** Longer than the test. */
const slow = { maxAttempts: 2, minTimeoutInMs: 600_000, maxTimeoutInMs: 600_000 };

export const recoversAt = task({
  id: 'recovers-at',
  retry: slow,
  run: failing,
  catchError: async ({ retryAt, retryDelayInMs }) =>
    retryAt instanceof Date && retryDelayInMs !== undefined
      ? { retryAt: new Date(Date.now() + 10) }
      : undefined,
});
export const recoversAfter = task({
  id: 'recovers-after',
  retry: slow,
  run: failing,
  catchError: async () => ({ retryDelayInMs: 10 }),
});
export const recoversBy = task({
  id: 'recovers-by',
  retry: slow,
  run: failing,
  catchError: async ({ retry }) =>
    retry && { retry: { minTimeoutInMs: 10, maxTimeoutInMs: 10, factor: 1, randomize: false } },
});
export const replacesError = task({
  id: 'replaces-error',
  retry: slow,
  run: failing,
  handleError: async () => ({ skipRetrying: true, error: new Error('replaced') }),
});

export const counts = task({
  id: 'counts',
  retry: { maxAttempts: 2, minTimeoutInMs: 10, maxTimeoutInMs: 10 },
  onStartAttempt: async ({ ctx }) => {
    attempts.push(ctx.attempt.number);
  },
  run: async (payload: unknown, args) => {
    await failing(payload, args);
    return attempts;
  },
});

const stripe = webhooks.endpoint.define({
  id: 'stripe',
  description: 'Payments',
  source: webhooks.stripe(),
  metadata: { tier: 'gold' },
});
export const payments = webhook({
  id: 'payments',
  endpoint: stripe,
  retry: { maxAttempts: 2, minTimeoutInMs: 10 },
  onStart: async ({ payload }) => logger.info('started', { event: payload.event }),
  onEvent: async ({ event, headers, endpoint, ctx }) => {
    if (ctx.attempt.number === 1) throw new Error('not yet');
    logger.info('received', { event, signed: headers.has('stripe-signature'), endpoint });
  },
});

const pushes = defineWebhookEndpoint({ id: 'github-pushes', source: webhookSources.github() });
export const push = webhook({ id: 'push', endpoint: pushes, onEvent: async () => {} });

export const sources = task({
  id: 'sources',
  run: async () => [
    providerProducers.linear().provider,
    normalizeKeyString('{event.id}'),
    typeof OIDCTokenError,
  ],
});
