import { ApiClient } from '../client/api-client.ts';
import { insist } from '../client/insist.ts';
import type { EventFilter } from '../events/subscription.ts';
import { withinAttempt } from '../run-scope.ts';
import { waitingRun } from '../wait/in-run.ts';
import { ResultPromise, type WaitResult } from '../wait/result-promise.ts';
import { fromRetrieved, WaitTimeoutError } from '../wait/token.ts';
import { ownSteps } from './steps.ts';

/** An event for which a step waited. */
export interface ReceivedEvent<TPayload = unknown> {
  readonly id: string;
  readonly name: string;
  readonly payload: TPayload;
  /** When it occurred, according to its sender. */
  readonly timestamp: string;
}

export interface WaitForEventOptions {
  /** The name of the event, such as `order.paid`. Patterns are not allowed. */
  event: string;
  /** Conditions on its payload, as in the subscription of a task. */
  filter?: EventFilter;
  /** The maximum time to wait: a duration such as `12h`, or a date. Default `1d`. */
  timeout?: string | Date;
}

/**
 * Waits for an event sent from now on, like `wait.forToken`: `{ ok: true, output }` with the event, or `{ ok: false, error }`, a
 * WaitTimeoutError. The result is stored, including a timeout.
 *
 * @example
 * const paid = await step.waitForEvent('payment', { event: 'order.paid', filter: { order: order.id }, timeout: '3d' });
 * if (!paid.ok) await step.run('remind', () => remind(order));
 */
export function waitForEvent<TPayload = unknown>(
  name: string,
  options: WaitForEventOptions,
): ResultPromise<WaitResult<ReceivedEvent<TPayload>>> {
  return ResultPromise.of(waitFor<TPayload>(name, options));
}

async function waitFor<TPayload>(
  name: string,
  options: WaitForEventOptions,
): Promise<WaitResult<ReceivedEvent<TPayload>>> {
  const what = 'step.waitForEvent';
  const steps = ownSteps(what);
  const { waits, signal } = waitingRun(what);
  const { event, filter, timeout = '1d' } = (options ?? {}) as Partial<WaitForEventOptions>;
  if (typeof event !== 'string' || event === '')
    throw new TypeError(`${what} requires { event } after the name, such as { event: 'order.paid' }.`);
  const resultOf = (received: unknown): WaitResult<ReceivedEvent<TPayload>> =>
    received === null || received === undefined
      ? { ok: false, error: new WaitTimeoutError(`No event ${event} arrived in time.`) }
      : { ok: true, output: received as ReceivedEvent<TPayload> };
  return steps.enter<WaitResult<ReceivedEvent<TPayload>>>(
    { kind: 'EVENT', name, subject: event },
    async (stored) => resultOf(await steps.resultOf(stored)),
    async (key) => {
      const from = performance.now();
      const client = new ApiClient();
      const body = {
        event: { name: event, ...(filter !== undefined && { filter }) },
        timeout,
        waitKey: `${steps.scope.run} step/${key}`,
      };
      const { id } = await insist(
        () => withinAttempt(() => client.call('createWaitpointToken', { body })),
        signal,
      );
      await waits.begin({ key: `token/${id}`, kind: 'TOKEN', target: id });
      const { error, output } = await fromRetrieved(
        client,
        await insist(() => client.call('retrieveWaitpointToken', { params: { waitpointId: id } }), signal),
      );
      const ended = { kind: 'EVENT', status: 'COMPLETED', tries: 1, detail: event } as const;
      await steps.store(key, {
        ...ended,
        tookMs: performance.now() - from,
        ...(error === undefined && { output: JSON.stringify(output), outputType: 'application/json' }),
      });
      return resultOf(error === undefined ? output : undefined);
    },
  );
}
