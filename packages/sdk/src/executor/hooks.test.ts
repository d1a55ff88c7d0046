import { afterEach, describe, expect, test } from 'vitest';
import { AbortTaskRunError, locals, task, tasks } from '../index.ts';
import type { RunLogLine } from '../run-scope.ts';
import type { TaskOptions } from '../task/definition.ts';
import { assignmentOf, environment } from '../testing/assignment.ts';
import { execute } from './execute.ts';
import type { AbortReason, ExecuteOptions } from './execute-options.ts';

type Declared = Omit<TaskOptions<'charge', unknown, unknown>, 'id'>;

afterEach(() => {
  delete (globalThis as Record<symbol, unknown>)[Symbol.for('@millrace/sdk/hooks')];
});

/** Executes an attempt of a task and returns its outcome with its log lines. */
async function executed(declared: Declared, changes: Partial<ExecuteOptions> = {}) {
  const lines: RunLogLine[] = [];
  const outcome = await execute({
    task: task<'charge', unknown>({ id: 'charge', ...declared }),
    assignment: assignmentOf({ payload: '{"n":1}' }),
    environment,
    signal: new AbortController().signal,
    onLog: (line) => void lines.push(line),
    ...changes,
  });
  return { outcome, messages: lines.map((line) => line.message) };
}

/** A task whose hooks, and those for all tasks, record their calls. */
function recording(run: Declared['run']) {
  const calls: string[] = [];
  const call =
    (name: string, detail: (args: never) => unknown = () => '') =>
    (args: unknown): undefined => {
      calls.push(`${name} ${String(detail(args as never))}`.trim());
    };
  tasks.onStart(call('all onStart'));
  tasks.onSuccess(call('all onSuccess'));
  tasks.onFailure(call('all onFailure'));
  tasks.middleware(async ({ next }) => {
    calls.push('all in');
    await next();
    calls.push('all out');
  });
  const declared: Declared = {
    run: async (payload, args) => {
      calls.push('run');
      return run(payload, args);
    },
    middleware: async ({ next }) => {
      calls.push('own in');
      await next();
      calls.push('own out');
    },
    onStart: call('onStart', ({ payload }: { payload: unknown }) => JSON.stringify(payload)),
    onStartAttempt: call('onStartAttempt'),
    onSuccess: call('onSuccess', ({ output }: { output: unknown }) => output),
    onFailure: call('onFailure', ({ error }: { error: Error }) => error.message),
    onCancel: call('onCancel'),
    onComplete: call('onComplete', ({ result }: { result: object }) =>
      JSON.stringify(result, (_, value: unknown) => (value instanceof Error ? value.message : value)),
    ),
  };
  return { calls, declared };
}

const fails = () => {
  throw new Error('no');
};

describe('hooks', () => {
  test('are called in order around a successful run', async () => {
    const { calls, declared } = recording(() => 'done');
    const { outcome } = await executed(declared);
    expect(outcome).toMatchObject({ kind: 'completed', output: 'done' });
    expect(calls).toEqual([
      'all in',
      'own in',
      'all onStart',
      'onStart {"n":1}',
      'onStartAttempt',
      'run',
      'all onSuccess',
      'onSuccess done',
      'onComplete {"ok":true,"data":"done"}',
      'own out',
      'all out',
    ]);
  });

  test('are not called for a failure that is retried, and start a run once', async () => {
    const { calls, declared } = recording(fails);
    expect((await executed(declared)).outcome).toMatchObject({ kind: 'retry' });
    expect(calls.slice(2)).toEqual([
      'all onStart',
      'onStart {"n":1}',
      'onStartAttempt',
      'run',
      'own out',
      'all out',
    ]);
    calls.length = 0;
    const last = { assignment: assignmentOf({ attempt: 3, payload: '{}' }) };
    expect((await executed(declared, last)).outcome).toMatchObject({
      kind: 'failed',
      error: { message: 'no' },
    });
    expect(calls.slice(2, -2)).toEqual([
      'onStartAttempt',
      'run',
      'all onFailure',
      'onFailure no',
      'onComplete {"ok":false,"error":"no"}',
    ]);
  });

  test.each(['onStart', 'onStartAttempt', 'middleware'] as const)(
    'fail the attempt when %s throws',
    async (name) => {
      const { calls, declared } = recording(() => 1);
      const assignment = assignmentOf({ maxAttempts: 1 });
      const { outcome } = await executed({ ...declared, [name]: fails }, { assignment });
      expect(outcome).toMatchObject({ kind: 'failed', error: { message: 'no' } });
      expect(calls).not.toContain('run');
      expect(calls).toContain('onFailure no');
      expect(calls).toContain('onComplete {"ok":false,"error":"no"}');
    },
  );

  test.each([
    ['forgets to call next', () => undefined, /without calling next/],
    ['goes on twice', async ({ next }: { next: () => Promise<void> }) => (await next(), next()), /twice/],
  ])('fail the attempt when middleware %s', async (_, middleware, says) => {
    const { outcome } = await executed({ run: () => 1, middleware });
    expect(outcome).toMatchObject({ kind: 'retry', error: { message: expect.stringMatching(says) } });
  });

  test('at the end change nothing when they throw, which is logged', async () => {
    const { outcome, messages } = await executed({ run: () => 'fine', onSuccess: fails, onComplete: fails });
    expect(outcome).toMatchObject({ kind: 'completed', output: 'fine' });
    expect(messages).toEqual(['onSuccess failed: Error: no', 'onComplete failed: Error: no']);
  });

  test('are notified of a cancellation immediately, and of the final outcome of the code', async () => {
    const controller = new AbortController();
    const seen: unknown[] = [];
    const { calls, declared } = recording(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => setTimeout(() => reject(new Error('stopped')), 30));
          controller.abort({ kind: 'canceled' } satisfies AbortReason);
        }),
    );
    const onCancel: Declared['onCancel'] = async ({ runPromise }) => {
      calls.push('onCancel');
      locals.set(locals.create('x'), 1);
      seen.push(await runPromise.catch((error: Error) => error.message));
    };
    const { outcome, messages } = await executed({ ...declared, onCancel }, { signal: controller.signal });
    expect([outcome, messages, seen]).toEqual([{ kind: 'canceled' }, [], ['stopped']]);
    expect(calls.slice(5)).toEqual([
      'run',
      'onCancel',
      'onComplete {"ok":false,"error":"The run was canceled."}',
      'own out',
      'all out',
    ]);
  });

  test('are notified of a timeout, and not called after the end is settled', async () => {
    const controller = new AbortController();
    const { calls, declared } = recording(() => controller.abort({ kind: 'maxDuration', seconds: 60 }));
    const late = await executed(declared, { signal: controller.signal });
    expect(late.outcome).toMatchObject({ status: 'TIMED_OUT' });
    expect(calls.filter((call) => call.startsWith('on'))).toEqual([
      'onStart {"n":1}',
      'onStartAttempt',
      expect.stringMatching(/^onFailure .*60 s/),
      expect.stringMatching(/^onComplete .*60 s/),
    ]);
    const other = new AbortController();
    const settled = recording(() => other.abort({ kind: 'settled' }));
    expect((await executed(settled.declared, { signal: other.signal })).outcome).toEqual({
      kind: 'canceled',
    });
    expect(settled.calls.slice(-3)).toEqual(['run', 'own out', 'all out']);
  });

  test('are notified once of a timeout if the code does not stop', { timeout: 20_000 }, async () => {
    const controller = new AbortController();
    let end: () => void = () => undefined;
    const { calls, declared } = recording(() => {
      controller.abort({ kind: 'maxDuration', seconds: 60 });
      return new Promise<void>((resolve) => (end = resolve));
    });
    const seen: unknown[] = [];
    const key = locals.create<string>('x');
    const onStart = () => void locals.set(key, 'of the attempt');
    const onFailure: Declared['onFailure'] = () => void seen.push(locals.get(key));
    const running = executed({ ...declared, onStart, onFailure }, { signal: controller.signal });
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['of the attempt']);
    end();
    expect((await running).outcome).toMatchObject({ status: 'TIMED_OUT' });
    expect(calls.slice(calls.indexOf('run'))).toEqual([
      'run',
      'all onFailure',
      expect.stringMatching(/^onComplete .*60 s/),
      'own out',
      'all out',
    ]);
    expect(seen).toHaveLength(1);
  });

  test('before run are not called again for errors thrown outside the awaited code', async () => {
    const { calls, declared } = recording(fails);
    await executed(declared, { aside: true, assignment: assignmentOf({ maxAttempts: 1 }) });
    expect(calls).toEqual(['run', 'all onFailure', 'onFailure no', 'onComplete {"ok":false,"error":"no"}']);
  });

  test('are not called when the payload cannot be read', async () => {
    const { calls, declared } = recording(() => 1);
    await executed(declared, { assignment: assignmentOf({ payload: '{' }) });
    expect(calls).toEqual([]);
  });

  test('under one name replace each other', async () => {
    const calls: string[] = [];
    tasks.onStart('log', () => calls.push('first'));
    tasks.onStart('log', () => calls.push('second'));
    await executed({ run: () => 1 });
    expect(calls).toEqual(['second']);
    expect(() => tasks.onStart('log', undefined as never)).toThrow(/takes a function/);
  });
});

describe('catchError', () => {
  const failing = (returned: unknown, changes: Partial<Declared> = {}) =>
    executed({
      run: fails,
      retry: { randomize: false },
      catchError: () => returned as undefined,
      ...changes,
    });

  test.each([
    ['nothing', undefined, { kind: 'retry', delayMs: 1_000 }],
    [
      'to skip retries',
      { skipRetrying: true },
      { kind: 'failed', status: 'FAILED', error: { isFinal: true } },
    ],
    ['a delay', { retryDelayInMs: 5 }, { kind: 'retry', delayMs: 5 }],
    ['a date of the past', { retryAt: new Date(0) }, { kind: 'retry', delayMs: 0 }],
    ['other rules', { retry: { minTimeoutInMs: 7, randomize: false } }, { kind: 'retry', delayMs: 7 }],
    ['nonsense', { retryDelayInMs: Number.NaN }, { kind: 'retry', delayMs: 1_000 }],
    ['another error', { error: new Error('other') }, { kind: 'retry', error: { message: 'other' } }],
  ])('can return %s', async (_, returned, expected) => {
    expect((await failing(returned)).outcome).toMatchObject(expected);
  });

  test('grants no attempt beyond the last, but can replace the error', async () => {
    const { outcome } = await executed(
      { run: fails, catchError: () => ({ retryDelayInMs: 1, error: new Error('other') }) },
      { assignment: assignmentOf({ maxAttempts: 1 }) },
    );
    expect(outcome).toMatchObject({ kind: 'failed', error: { message: 'other' } });
  });

  test('runs first for the task, then globally; receives the rules; and is not called for an abort', async () => {
    const calls: unknown[] = [];
    tasks.catchError(({ retryDelayInMs }) => {
      calls.push(['all', retryDelayInMs]);
      return { skipRetrying: true };
    });
    const declared: Declared = {
      run: fails,
      retry: { randomize: false },
      catchError: ({ retry }) => void calls.push(['own', retry.maxAttempts]),
    };
    expect((await executed(declared)).outcome).toMatchObject({ kind: 'failed' });
    expect(calls).toEqual([
      ['own', 3],
      ['all', 1_000],
    ]);
    calls.length = 0;
    const aborting = { ...declared, run: () => Promise.reject(new AbortTaskRunError('stop')) };
    expect((await executed(aborting)).outcome).toMatchObject({ kind: 'failed' });
    expect(calls).toEqual([]);
  });

  test("that does not return an object leaves the task's rules and the error unchanged", async () => {
    const { outcome, messages } = await failing('retry');
    expect(outcome).toMatchObject({ kind: 'retry', delayMs: 1_000, error: { message: 'no' } });
    expect(messages).toEqual([expect.stringMatching(/^catchError returned a string/)]);
  });

  test('that throws leaves the rules of the task unchanged', async () => {
    const { outcome, messages } = await failing(undefined, { catchError: fails });
    expect(outcome).toMatchObject({ kind: 'retry', delayMs: 1_000, error: { message: 'no' } });
    expect(messages).toEqual([expect.stringMatching(/^catchError failed.*no$/)]);
  });
});

test('locals are passed from middleware to run, separately for each attempt', async () => {
  const key = locals.create<number>('key');
  const declared: Declared = {
    middleware: async ({ ctx, next }) => {
      locals.set(key, ctx.attempt.number);
      await next();
    },
    run: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return [locals.getOrThrow(key), locals.get(locals.create('other')) ?? null];
    },
  };
  const both = await Promise.all(
    [1, 2].map((attempt) => executed(declared, { assignment: assignmentOf({ attempt }) })),
  );
  expect(both.map(({ outcome }) => outcome)).toMatchObject([{ output: '[1,null]' }, { output: '[2,null]' }]);
  expect(locals.get(key)).toBeUndefined();
  expect(() => locals.set(key, 1)).toThrow(/outside a run/);
});
