import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, test } from 'vitest';
import { AbortTaskRunError, logger, OutOfMemoryError, task } from '../index.ts';
import type { RunArguments } from '../task/definition.ts';
import { currentRun, withinAttempt, type RunLogLine } from '../run-scope.ts';
import { assignmentOf, environment } from '../testing/assignment.ts';
import { execute } from './execute.ts';
import type { AbortReason, ExecuteOptions } from './execute-options.ts';
import { outputLimit } from './outcome.ts';

type Run = (payload: unknown, args: RunArguments) => unknown;

const executed = (run: Run, changes: Partial<ExecuteOptions> & { declared?: object } = {}) => {
  const { declared, ...options } = changes;
  return execute({
    task: task({ id: 'charge', run, ...declared }),
    assignment: assignmentOf(),
    environment,
    signal: new AbortController().signal,
    onLog() {},
    ...options,
  });
};
const throwing = (thrown: unknown) => () => {
  throw thrown;
};

describe('execute', () => {
  test('ends only after the pending calls of the attempt that its code does not await', async () => {
    const ended: string[] = [];
    const call = async (name: string) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      ended.push(name);
    };
    await executed(() => {
      void withinAttempt(async () => {
        await call('first');
        void withinAttempt(() => call('its own'));
      });
      withinAttempt(async () => call('second').then(throwing(new Error('no')))).catch(() =>
        ended.push('failed'),
      );
    });
    expect(ended.toSorted()).toEqual(['failed', 'first', 'its own', 'second']);
    await withinAttempt(() => call('outside'));
    expect(ended.at(-1)).toBe('outside');
  });

  test('passes payload and ctx to the task and returns its output', async () => {
    const seen: unknown[] = [];
    const outcome = await executed(
      async (payload, { ctx, signal }) => {
        seen.push(payload, ctx, signal.aborted);
        return { ok: true };
      },
      {
        assignment: assignmentOf({ payload: '{"cents":5}', machine: 'micro', attempt: 2 }),
        filePath: 'tasks/charge.ts',
      },
    );
    expect(outcome).toEqual({ kind: 'completed', output: '{"ok":true}', outputType: 'application/json' });
    expect(seen).toEqual([
      { cents: 5 },
      {
        task: { id: 'charge', filePath: 'tasks/charge.ts' },
        run: expect.objectContaining({
          id: 'run_1',
          tags: ['vip'],
          createdAt: new Date(1_700_000_000_000),
          startedAt: expect.any(Date),
          maxAttempts: 3,
          version: '20261121.1',
        }),
        attempt: { number: 2, startedAt: expect.any(Date) },
        environment: { id: 'env_1', slug: 'prod', type: 'PRODUCTION', branchName: undefined },
        project: { ref: 'proj_abc', name: 'Shop' },
        organization: { id: 'org_1', name: 'Acme' },
        queue: { name: 'task/charge' },
        machine: { name: 'micro' },
        batch: undefined,
      },
      false,
    ]);
  });

  test('retries a run that ran out of memory only on another machine', async () => {
    const run = throwing(new OutOfMemoryError());
    const error = expect.objectContaining({ name: 'OutOfMemoryError' }) as unknown;
    const retry = { maxAttempts: 1, minTimeoutInMs: 5, outOfMemory: { machine: 'large-1x' } } as const;
    expect(await executed(run, { declared: { retry } })).toEqual({
      kind: 'retry',
      delayMs: 5,
      machine: 'large-1x',
      error,
    });
    const failed = { kind: 'failed', status: 'FAILED', error };
    const assignment = assignmentOf({ machine: 'large-1x' });
    expect(await executed(run, { declared: { retry }, assignment })).toEqual(failed);
    expect(await executed(run, { declared: { retry: { maxAttempts: 3 } } })).toEqual(failed);
  });

  test.each([
    ['text/plain', 'hi', 'hi'],
    ['application/super+json', '{"json":"1970-01-01T00:00:00.000Z","meta":{"values":["Date"]}}', new Date(0)],
    ['application/json', null, undefined],
  ])('reads a payload of %s', async (payloadType, payload, expected) => {
    let seen: unknown = 'nothing';
    await executed((input) => void (seen = input), {
      assignment: assignmentOf({ payload, payloadType }),
    });
    expect(seen).toEqual(expected);
  });

  test.each([
    [undefined, { output: null, outputType: 'application/json' }],
    ['text', { output: 'text', outputType: 'text/plain' }],
    [new Date(0), { output: expect.stringContaining('"Date"'), outputType: 'application/super+json' }],
  ])('writes the output %j', async (output, expected) => {
    expect(await executed(() => output)).toEqual({ kind: 'completed', ...expected });
  });

  test.each([
    ['cannot be serialized', () => () => 1, 'OutputUnserializableError'],
    ['is too large', () => 'x'.repeat(outputLimit + 1), 'OutputTooLargeError'],
  ])('fails immediately when the output %s', async (_, run, name) => {
    expect(await executed(run)).toMatchObject({
      kind: 'failed',
      status: 'FAILED',
      error: { name, message: /output/i },
    });
  });

  test('keeps an output of exactly the limit', async () => {
    expect(await executed(() => 'x'.repeat(outputLimit))).toMatchObject({ kind: 'completed' });
  });

  test('fails immediately when the payload is not of its type', async () => {
    const outcome = await executed(() => 1, { assignment: assignmentOf({ payload: '{' }) });
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { type: 'INTERNAL_ERROR', name: 'PayloadParseError' },
    });
  });
});

describe('execute with a schema', () => {
  const schema: StandardSchemaV1<unknown, string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: async (value) =>
        typeof value === 'string'
          ? { value: value.toUpperCase() }
          : { issues: [{ message: 'not text', path: ['items', 0, { key: 'name' }] }, { message: 'bad' }] },
    },
  };

  test('passes the payload as parsed by the schema', async () => {
    const assignment = assignmentOf({ payload: 'hi', payloadType: 'text/plain' });
    expect(await executed((payload) => payload, { assignment, declared: { schema } })).toMatchObject({
      output: 'HI',
    });
  });

  test('passes each parsed payload to a batch task, and names the invalid one', async () => {
    const declared = { schema, batch: { maxSize: 10, maxWait: 1 } };
    const run = (payload: unknown, own: object = declared) =>
      executed((input) => input, {
        assignment: assignmentOf({ payload: JSON.stringify(payload) }),
        declared: own,
      });
    expect(await run(['a', 'b'])).toMatchObject({ output: '["A","B"]' });
    expect(await run(['a', 5])).toMatchObject({
      status: 'FAILED',
      error: {
        message: expect.stringContaining('task charge: [1].items[0].name: not text; [1]: bad') as string,
      },
    });
    // A run that was triggered before its task declared batching.
    expect(await run({ n: 1 }, { batch: declared.batch })).toMatchObject({ output: '[{"n":1}]' });
  });

  test('fails immediately and names the fields when the payload does not fit', async () => {
    const outcome = await executed(() => expect.fail('not run'), {
      assignment: assignmentOf({ payload: '5' }),
      declared: { schema },
    });
    expect(outcome).toMatchObject({
      kind: 'failed',
      status: 'FAILED',
      error: {
        name: 'PayloadValidationError',
        message: 'The payload does not fit the schema of task charge: items[0].name: not text; bad',
      },
    });
  });
});

describe('retries', () => {
  test('requests another attempt after a growing delay', async () => {
    const declared = { retry: { randomize: false } };
    const first = await executed(throwing(new Error('no')), { declared });
    const second = await executed(throwing(new Error('no')), {
      declared,
      assignment: assignmentOf({ attempt: 2 }),
    });
    expect(first).toMatchObject({ kind: 'retry', delayMs: 1_000, error: { message: 'no' } });
    expect(second).toMatchObject({ kind: 'retry', delayMs: 2_000 });
  });

  test.each([
    ['three by default', {}, null, 3],
    ['as the task declares', { retry: { maxAttempts: 2 } }, null, 2],
    ['as the trigger asked', { retry: { maxAttempts: 2 } }, 4, 4],
  ])('fails after the last attempt: %s', async (_, declared, maxAttempts, last) => {
    const at = (attempt: number) =>
      executed(throwing(new Error('no')), { declared, assignment: assignmentOf({ attempt, maxAttempts }) });
    expect(await at(last - 1)).toMatchObject({ kind: 'retry' });
    expect(await at(last)).toMatchObject({ kind: 'failed', status: 'FAILED', error: { message: 'no' } });
  });

  test('fails immediately when the trigger requested one attempt', async () => {
    const outcome = await executed(throwing(new Error('no')), {
      assignment: assignmentOf({ maxAttempts: 1 }),
    });
    expect(outcome).toMatchObject({ kind: 'failed' });
  });

  test('fails immediately for an AbortTaskRunError, a subclass of it, and one of another copy of this package', async () => {
    class NoCustomer extends AbortTaskRunError {}
    const foreign = Object.assign(new Error('x'), { [Symbol.for('@millrace/sdk/abort-task-run')]: true });
    for (const thrown of [new AbortTaskRunError('x'), new NoCustomer('x'), foreign]) {
      expect(await executed(throwing(thrown))).toMatchObject({
        kind: 'failed',
        status: 'FAILED',
        error: { message: 'x', isFinal: true },
      });
    }
    const last = await executed(throwing(new Error('x')), { declared: { retry: { maxAttempts: 1 } } });
    expect(last).toMatchObject({ kind: 'failed', error: { message: 'x' } });
    expect(last).not.toHaveProperty('error.isFinal');
  });

  test('retries every other thrown value', async () => {
    for (const thrown of ['text', undefined, null, 0, { name: 'AbortTaskRunError' }]) {
      expect(await executed(throwing(thrown))).toMatchObject({ kind: 'retry' });
    }
  });
});

describe('an aborted signal', () => {
  const canceled: AbortReason = { kind: 'canceled' };
  const tooLong: AbortReason = { kind: 'maxDuration', seconds: 60 };
  const timedOut = {
    kind: 'failed',
    status: 'TIMED_OUT',
    error: { message: expect.stringContaining('60 s') },
  };

  test.each([
    [canceled, { kind: 'canceled' }],
    [tooLong, timedOut],
  ])('decides the outcome when the code stops because of it: %j', async (reason, expected) => {
    const controller = new AbortController();
    const outcome = executed(
      (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('stopped'))),
        ),
      { signal: controller.signal },
    );
    controller.abort(reason);
    expect(await outcome).toMatchObject(expected);
  });

  test.each([
    [canceled, { kind: 'canceled' }],
    [tooLong, timedOut],
  ])('decides the outcome when the code ignores it: %j', async (reason, expected) => {
    const controller = new AbortController();
    const outcome = executed(() => controller.abort(reason), { signal: controller.signal });
    expect(await outcome).toMatchObject(expected);
  });

  test('keeps code from starting', async () => {
    const outcome = await executed(() => expect.fail('not run'), { signal: AbortSignal.abort(canceled) });
    expect(outcome).toEqual({ kind: 'canceled' });
  });

  test('with another reason leaves the outcome to the code', async () => {
    const outcome = await executed(() => 1, { signal: AbortSignal.abort(new Error('other')) });
    expect(outcome).toMatchObject({ kind: 'completed', output: '1' });
  });
});

const speak: Run = async () => {
  await new Promise((resolve) => setImmediate(resolve));
  logger.info(`I am ${currentRun()?.run} attempt ${currentRun()?.attempt}`);
};

describe('the async context of a run', () => {
  test('is available to logger and currentRun, separately for each run', async () => {
    const lines: string[] = [];
    const sink = (name: string) => (line: RunLogLine) => lines.push(`${name} ${line.level} ${line.message}`);
    await Promise.all([
      executed(speak, { assignment: assignmentOf({ run: 'run_a' }), onLog: sink('a') }),
      executed(speak, { assignment: assignmentOf({ run: 'run_b', attempt: 2 }), onLog: sink('b') }),
    ]);
    expect(lines.toSorted()).toEqual(['a info I am run_a attempt 1', 'b info I am run_b attempt 2']);
    expect(currentRun()).toBeUndefined();
  });
});
