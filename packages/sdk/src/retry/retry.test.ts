import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AbortTaskRunError, retry } from '../index.ts';
import { runScopes, type RunScope } from '../run-scope.ts';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';
import { resetDelay } from './reset-headers.ts';

const quick = { minTimeoutInMs: 1, randomize: false };

/** Runs a function as the code of a run with this signal. */
const inRun = <T>(signal: AbortSignal, act: () => T): T =>
  runScopes(() => new AsyncLocalStorage<RunScope>()).run(
    { run: 'run_1', attempt: 1, onLog() {}, signal },
    act,
  );

describe('retry.onThrow', () => {
  test('calls again until it does not throw, and returns that result', async () => {
    const attempts: number[] = [];
    const value = await retry.onThrow(async ({ attempt, maxAttempts }) => {
      attempts.push(attempt);
      if (attempt < 3) throw new Error('no');
      return maxAttempts;
    }, quick);
    expect([value, attempts]).toEqual([3, [1, 2, 3]]);
  });

  test('throws the error of the last attempt, and an AbortTaskRunError immediately', async () => {
    let calls = 0;
    const failing = (error: () => Error) => () => {
      calls += 1;
      throw error();
    };
    const thrown = retry.onThrow(
      failing(() => new Error(`no ${calls}`)),
      { ...quick, maxAttempts: 2 },
    );
    await expect(thrown).rejects.toThrow('no 2');
    calls = 0;
    await expect(
      retry.onThrow(
        failing(() => new AbortTaskRunError('stop')),
        quick,
      ),
    ).rejects.toThrow('stop');
    expect(calls).toBe(1);
  });

  test('stops during a pause when the run is stopping', async () => {
    const controller = new AbortController();
    const reason = new Error('canceled');
    const waiting = inRun(controller.signal, () =>
      retry.onThrow(
        () => {
          setTimeout(() => controller.abort(reason), 10);
          throw new Error('no');
        },
        { minTimeoutInMs: 60_000 },
      ),
    );
    await expect(waiting).rejects.toBe(reason);
  });
});

describe('retry.fetch', () => {
  let server: HttpServer;
  let answers: ((request: Received) => Answer | Promise<Answer>)[];
  beforeEach(async () => {
    server = await startServer((request) => (answers.shift() ?? (() => ({ body: 'ok' })))(request));
  });
  afterEach(() => server.close());
  const backoff = { strategy: 'backoff', ...quick } as const;

  test('retries by status and returns the last reply in any case', async () => {
    answers = [() => ({ status: 503 }), () => ({ status: 500 }), () => ({ status: 404, body: 'none' })];
    const reply = await retry.fetch(server.url, {
      method: 'POST',
      body: '{"n":1}',
      retry: { byStatus: { '408, 500-599': backoff } },
    });
    expect([reply.status, await reply.text()]).toEqual([404, 'none']);
    expect(server.received.map(({ body }) => body)).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
    answers = Array.from({ length: 9 }, () => () => ({ status: 500 }));
    expect((await retry.fetch(server.url, { retry: { byStatus: { '500': backoff } } })).status).toBe(500);
    expect(server.received).toHaveLength(6);
    expect((await retry.fetch(server.url, { retry: false })).status).toBe(500);
    expect(server.received).toHaveLength(7);
  });

  test('waits for the time in a header', async () => {
    answers = [() => ({ status: 429, headers: { 'retry-after': '0' } }), () => ({ body: 'now' })];
    expect(await (await retry.fetch(server.url)).text()).toBe('now');
    const reset = String(Date.now() + 30);
    answers = [() => ({ status: 429, headers: { 'x-reset': reset } }), () => ({ body: 'later' })];
    const byStatus = {
      '429': { strategy: 'headers', resetHeader: 'x-reset', resetFormat: 'unix_timestamp_in_ms' },
    } as const;
    expect(await (await retry.fetch(server.url, { retry: { byStatus } })).text()).toBe('later');
    expect(Date.now()).toBeGreaterThanOrEqual(Number(reset));
  });

  test('retries when a connection fails or takes too long, and finally throws', async () => {
    answers = [() => new Promise(() => {}), () => ({ body: 'in time' })];
    const reply = await retry.fetch(server.url, { timeoutInMs: 200, retry: { timeout: quick } });
    expect(await reply.text()).toBe('in time');
    const { url } = server;
    await server.close();
    const gone = retry.fetch(url, { retry: { connectionError: { ...quick, maxAttempts: 2 } } });
    await expect(gone).rejects.toThrow(/fetch failed/);
    server = await startServer(() => ({}));
  });

  test('ends with the run, and with its own signal', async () => {
    answers = [() => new Promise(() => {}), () => new Promise(() => {})];
    const run = new AbortController();
    const first = inRun(run.signal, () => retry.fetch(server.url));
    run.abort(new Error('canceled'));
    await expect(first).rejects.toThrow('canceled');
    const own = new AbortController();
    const second = retry.fetch(server.url, { signal: own.signal });
    own.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
  });

  test('rejects an invalid status', async () => {
    answers = [() => ({ status: 500 })];
    const wrong = retry.fetch(server.url, { retry: { byStatus: { '5xx': backoff } } });
    await expect(wrong).rejects.toThrow(/"5xx" is not a status/);
  });
});

test.each([
  ['unix_timestamp', '100', 40_000],
  ['unix_timestamp_in_ms', '60500', 500],
  ['iso_8601', '1970-01-01T00:01:02Z', 2_000],
  ['iso_8601_duration_openai_variant', '1m30.5s', 90_500],
  ['iso_8601_duration_openai_variant', '250ms', 250],
  ['delay_seconds', '3', 3_000],
  ['delay_seconds', 'Thu, 01 Jan 1970 00:01:05 GMT', 5_000],
  ['unix_timestamp', '1', 0],
  ['unix_timestamp', 'soon', undefined],
  ['delay_seconds', '99999', undefined],
] as const)('a reset written as %s is read: %s', (resetFormat, text, expected) => {
  expect(resetDelay({ resetHeader: 'r', resetFormat }, new Headers({ r: text }), 60_000)).toBe(expected);
});
