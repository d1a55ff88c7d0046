import { AsyncLocalStorage } from 'node:async_hooks';
import type { Wait } from '@millrace/contract/runner';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import {
  batch,
  configure,
  SubtaskError,
  task,
  tasks,
  wait,
  WaitTimeoutError,
  type RunResult,
} from '../index.ts';
import { asksToAbort } from '../retry/abort-task-run-error.ts';
import { runScopes, type RunScope } from '../run-scope.ts';
import { startServer, type Answer, type HttpServer } from '../testing/http-server.ts';
import { lengthOf } from './time.ts';

let server: HttpServer;
let results: Record<string, Answer> = {};
let answerOf = (path: string): Answer | undefined => results[path];
beforeAll(async () => {
  server = await startServer(({ path }) => answerOf(path) ?? { body: { id: 'run_child', isCached: false } });
  process.env['MILLRACE_API_URL'] = server.url;
  process.env['MILLRACE_SECRET_KEY'] = 'key';
  configure({});
});
afterAll(async () => {
  delete process.env['MILLRACE_API_URL'];
  delete process.env['MILLRACE_SECRET_KEY'];
  await server.close();
});

/** Runs a function as the code of an attempt whose waits end immediately and returns the waits. */
async function inRun<T>(act: () => Promise<T>): Promise<{ value: T; waits: Wait[] }> {
  const waits: Wait[] = [];
  const begin = async (begun: Wait): Promise<void> => void waits.push(begun);
  const scope: RunScope = { run: 'run_p', attempt: 1, onLog: () => {}, waits: { counts: new Map(), begin } };
  server.received.length = 0;
  const value = await runScopes(() => new AsyncLocalStorage<RunScope>()).run(scope, act);
  return { value, waits };
}

const double = task({ id: 'double', run: async (payload: { n: number }) => payload.n * 2 });
const failure = {
  type: 'BUILT_IN_ERROR',
  name: 'RangeError',
  message: 'too far',
  stackTrace: 'RangeError: too far\n at x',
};
const ended = (body: object) => ({
  '/api/v1/runs/run_child/result': { body: { id: 'run_child', taskIdentifier: 'double', ...body } },
});

describe('triggerAndWait', () => {
  test('triggers under the same key when the code runs again, waits, and returns the result', async () => {
    results = ended({ ok: true, output: '4', outputType: 'application/json', usage: { durationMs: 1 } });
    const act = async () => [
      await double.triggerAndWait({ n: 2 }),
      await tasks.triggerAndWait<typeof double>('double', { n: 2 }).unwrap(),
    ];
    const first = await inRun(act);
    const keys = () =>
      server.received.flatMap(({ body }) => {
        const { options } = (body ?? {}) as { options?: Record<string, string> };
        return options ? [[options['waitKey'] ?? options['idempotencyKey'], options['parentRunId']]] : [];
      });
    const before = keys();
    expect(before).toEqual([
      ['run_p/1 double/1', 'run_p'],
      ['run_p/1 double/2', 'run_p'],
    ]);
    expect(first.value).toEqual([{ ok: true, id: 'run_child', taskIdentifier: 'double', output: 4 }, 4]);
    const waited = { key: 'run/run_child', kind: 'RUN', target: 'run_child' };
    expect(first.waits).toEqual([waited, waited]);
    await inRun(act);
    expect(keys()).toEqual(before);
    const result = await inRun(async () => double.triggerAndWait({ n: 1 }, { idempotencyKey: 'mine' }));
    expect(result.value.ok).toBe(true);
    // Scoped to the run, like any key that a run creates.
    expect(keys()).toEqual([[expect.stringMatching(/^[0-9a-f]{64}$/), 'run_p']]);
  });

  /** Uses the given responses for these paths instead of the default ones, without retries of individual calls. */
  async function answering(answers: Record<string, Answer[]>, act: () => Promise<void>): Promise<void> {
    answerOf = (path) => answers[path]?.shift() ?? results[path];
    configure({ retry: { maxAttempts: 1 } });
    try {
      await act();
    } finally {
      answerOf = (path) => results[path];
      configure({});
    }
  }

  test('retries while the server restarts, with the same key', async () => {
    results = ended({ ok: true, output: '4', outputType: 'application/json' });
    const away: Answer = { status: 503, body: { error: 'The database is away.' } };
    const answers = {
      '/api/v1/tasks/double/trigger': [away, away],
      '/api/v1/runs/run_child/result': [away, away],
    };
    await answering(answers, async () => {
      const { value, waits } = await inRun(async () => double.triggerAndWait({ n: 2 }));
      expect(value).toMatchObject({ ok: true, output: 4 });
      expect(waits).toHaveLength(1);
      const keys = server.received.flatMap(({ body }) => {
        const { options } = (body ?? {}) as { options?: Record<string, string> };
        return options ? [options['waitKey']] : [];
      });
      expect(keys).toEqual(['run_p/1 double/1', 'run_p/1 double/1', 'run_p/1 double/1']);
    });
  });

  test('throws errors that waiting does not fix', async () => {
    results = ended({ ok: true, output: '4', outputType: 'application/json' });
    const refused: Answer = {
      status: 429,
      headers: { 'x-should-retry': 'false' },
      body: { error: 'The trigger limit is used up.', code: 'trigger_limit_exceeded' },
    };
    const fault: Answer = { status: 500, body: { error: 'Internal Server Error' } };
    for (const [answer, thrown] of [
      [refused, { name: 'RateLimitError', isFinal: true }],
      [fault, { name: 'InternalServerError', isFinal: false }],
    ] as const) {
      await answering({ '/api/v1/tasks/double/trigger': [answer] }, async () => {
        await expect(inRun(async () => double.triggerAndWait({ n: 2 }))).rejects.toMatchObject(thrown);
      });
    }
  });

  test('returns the error of a failed run, and unwrap throws it', async () => {
    results = ended({ ok: false, error: failure });
    const { value } = await inRun(async () => double.triggerAndWait({ n: 2 }));
    expect(value).toMatchObject({ ok: false, id: 'run_child' });
    const { value: thrown } = await inRun(async () =>
      double
        .triggerAndWait({ n: 2 })
        .unwrap()
        .catch((error: unknown) => error),
    );
    expect(thrown).toBeInstanceOf(SubtaskError);
    expect(thrown).toMatchObject({
      runId: 'run_child',
      taskIdentifier: 'double',
      cause: { name: 'RangeError', message: 'too far' },
    });
    expect((thrown as SubtaskError).message).toContain('too far');
    expect(asksToAbort(thrown)).toBe(false);
  });

  test('returns the causes and the errors of a failed run', async () => {
    const root = { ...failure, name: 'TypeError', message: 'root' };
    const cause = { ...failure, message: 'cause', causes: [root] };
    const member = { ...failure, type: 'STRING_ERROR', message: 'member', isMember: true };
    const error = { ...failure, name: 'AggregateError', message: 'all', causes: [cause, root, member] };
    results = ended({ ok: false, error });
    const { value } = await inRun(async () => double.triggerAndWait({ n: 2 }));
    expect(value).toMatchObject({
      ok: false,
      error: {
        isFinal: false,
        cause: {
          name: 'AggregateError',
          cause: { message: 'cause', cause: { name: 'TypeError', message: 'root' } },
          errors: ['member'],
        },
      },
    });
  });

  test('returns an error that also ends the calling run if the run ruled out further attempts', async () => {
    results = ended({ ok: false, error: { ...failure, isFinal: true } });
    const { value } = await inRun(async () => double.triggerAndWait({ n: 2 }));
    expect(value).toMatchObject({ ok: false, error: { isFinal: true } });
    if (value.ok) throw new Error('It did not fail.');
    expect(asksToAbort(value.error)).toBe(true);
    expect(asksToAbort(new Error('again', { cause: value.error }))).toBe(false);
  });

  test('of a batch without items resolves without runs and without a request', async () => {
    const { value, waits } = await inRun(async () => [
      await double.batchTriggerAndWait([]),
      await tasks.batchTriggerAndWait('double', []),
      await batch.triggerAndWait([]),
      await batch.triggerByTaskAndWait([]),
    ]);
    expect(value).toEqual(Array.from({ length: 4 }, () => ({ id: '', runs: [] })));
    expect([waits, server.received]).toEqual([[], []]);
    await expect(double.batchTriggerAndWait([])).rejects.toThrow('works only in the code of a task');
    const empty = { batchId: '', runCount: 0, isCached: false, publicAccessToken: undefined };
    for (const handle of [
      await double.batchTrigger([]),
      await tasks.batchTrigger('double', [], { idempotencyKey: 'none' }),
      await batch.trigger([]),
      await batch.triggerByTask([]),
    ])
      expect(handle).toEqual(empty);
    expect(server.received).toEqual([]);
  });

  test('has the types of the task', () => {
    const check = () => double.triggerAndWait({ n: 1 });
    expectTypeOf<Awaited<ReturnType<typeof check>>>().toEqualTypeOf<RunResult<'double', number>>();
    const unwrapped = () => double.triggerAndWait({ n: 1 }).unwrap();
    expectTypeOf<Awaited<ReturnType<typeof unwrapped>>>().toEqualTypeOf<number>();
    // @ts-expect-error -- the payload is not what the task takes
    expect(() => double.triggerAndWait({ m: 1 })).toBeDefined();
  });

  test('works only in runs, and only with their own environment', async () => {
    await expect(double.triggerAndWait({ n: 1 })).rejects.toThrow(
      'triggerAndWait works only in the code of a task',
    );
    await expect(wait.for({ seconds: 1 })).rejects.toThrow('wait.for works only');
    await expect(wait.forToken('waitpoint_1')).rejects.toThrow('wait.forToken works only');
    configure({ baseURL: server.url, secretKey: 'another' });
    await expect(inRun(async () => double.triggerAndWait({ n: 1 }))).rejects.toThrow(
      "the run's own environment",
    );
    configure({});
  });
});

describe('waiting for a time', () => {
  test('sends its length or its end, each wait under its own number', async () => {
    const date = new Date('2030-01-01');
    const { waits } = await inRun(async () => {
      await wait.for({ seconds: 90 });
      await wait.until({ date });
    });
    expect(waits).toEqual([
      { key: 'time/1', kind: 'TIME', inMs: 90_000 },
      { key: 'time/2', kind: 'TIME', until: date.getTime() },
    ]);
    const past = { date: new Date(0), throwIfInThePast: true };
    await expect(inRun(() => wait.until(past))).rejects.toThrow('is in the past');
    await expect(inRun(() => wait.until({ date: new Date('soon') }))).rejects.toThrow('a valid Date');
  });

  test('adds up its parts, months and years by the calendar, and rejects invalid durations', () => {
    const now = Date.parse('2027-01-31T12:00:00Z');
    expect(lengthOf({ hours: 1, minutes: 1, seconds: 0.5 }, now)).toBe(3_660_500);
    expect(now + lengthOf({ years: 1 }, now)).toBe(Date.parse('2028-01-31T12:00:00Z'));
    expect(lengthOf({ weeks: 1 }, now)).toBe(7 * 86_400_000);
    for (const wrong of [
      {},
      { seconds: -1 },
      { seconds: Number.NaN },
      { fortnights: 1 },
      { seconds: '5' },
      { years: 101 },
    ])
      expect(() => lengthOf(wrong as never, now)).toThrow(/wait\.for/);
  });
});

describe('tokens', () => {
  test('created by a run are found again; those with an explicit key or outside runs are used unchanged', async () => {
    results = {
      '/api/v1/waitpoints/tokens': {
        body: { id: 'waitpoint_1', isCached: false, url: 'u' },
        headers: { 'x-trigger-jwt': 't' },
      },
    };
    const { value } = await inRun(async () => [
      await wait.createToken({ tags: 'a' }),
      await wait.createToken(),
      await wait.createToken({ idempotencyKey: 'mine' }),
    ]);
    expect(value[0]).toEqual({ id: 'waitpoint_1', isCached: false, url: 'u', publicAccessToken: 't' });
    const sent = server.received.map(({ body }) => body);
    expect(sent).toEqual([
      { tags: 'a', waitKey: 'run_p/1 token/1' },
      { waitKey: 'run_p/1 token/2' },
      { idempotencyKey: 'mine' },
    ]);
    server.received.length = 0;
    await wait.createToken({ timeout: new Date(0) });
    expect(server.received[0]?.body).toEqual({ timeout: '1970-01-01T00:00:00.000Z' });
  });

  test('return their completion value, or the error of their timeout', async () => {
    const at = (n: number) => `/api/v1/waitpoints/tokens/waitpoint_${n}`;
    const token = { url: 'u', tags: [], createdAt: new Date(0).toISOString() };
    results = {
      [at(1)]: {
        body: { ...token, id: 'waitpoint_1', status: 'COMPLETED', output: '{"a":1}', outputIsError: false },
      },
      [at(2)]: {
        body: {
          ...token,
          id: 'waitpoint_2',
          status: 'TIMED_OUT',
          output: '{"message":"late"}',
          outputIsError: true,
        },
      },
    };
    const { value, waits } = await inRun(async () => [
      await wait.forToken<{ a: number }>({ id: 'waitpoint_1' }).unwrap(),
      await wait.forToken('waitpoint_2'),
    ]);
    expect(value).toEqual([{ a: 1 }, { ok: false, error: new WaitTimeoutError('late') }]);
    expect(waits.map(({ key }) => key)).toEqual(['token/waitpoint_1', 'token/waitpoint_2']);
    expect(await wait.retrieveToken('waitpoint_1')).toMatchObject({
      status: 'COMPLETED',
      output: { a: 1 },
      createdAt: new Date(0),
    });
  });
});
