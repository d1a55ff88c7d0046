import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureProject } from './project.ts';
import { serve, type Served } from './serve.ts';
import { tried, type Minor } from './versions.ts';

/** Fixture files that import exports that a minor version lacks. */
const without: Readonly<Record<Minor, readonly string[]>> = {
  '4.0': ['streams.ts', 'prompts.ts', 'clients.ts', 'limits.ts'],
  '4.4': ['clients.ts', 'limits.ts'],
  '4.5': ['limits.ts'],
  '4.8': [],
};

describe.each(tried)('tasks of the published SDK %s in %s', { timeout: 60_000 }, (minor, how) => {
  const ends: (() => Promise<void>)[] = [];
  let served: Served;

  beforeAll(async () => {
    const onEnd = (end: () => Promise<void>): void => void ends.unshift(end);
    const { dir } = await fixtureProject(minor, without[minor], onEnd);
    served = await serve(dir, how, onEnd);
  }, 120_000);
  afterAll(async () => {
    for (const end of ends) await end();
  });

  /** The result of a run. */
  const ended = async (task: string, payload?: unknown, options?: object) => {
    const { status, output, attemptCount, error } = await served.run(task, payload, options);
    return { status, output, attemptCount, error };
  };
  const completed = (output: unknown, attemptCount = 1) => ({ status: 'COMPLETED', output, attemptCount });

  test('are discovered, exported or not', () => {
    expect(served.problems).toEqual([]);
  });

  test('run, and return their output', async () => {
    expect(await ended('hello', { name: 'Ada' })).toMatchObject(completed({ greeting: 'Hello, Ada' }));
    expect(await ended('unexported')).toMatchObject(completed('found'));
    expect(await ended('queued')).toMatchObject(completed('queued'));
    expect(await ended('checked', { count: '4', when: '2020-01-01' })).toMatchObject(
      completed({ count: 5, year: 2020 }),
    );
    // Before 4.8 its parameter check accepts only zod 3 schemas.
    if (minor === '4.8') expect(await ended('tool', { a: 1, b: 2 })).toMatchObject(completed(3));
    expect(await ended('completes-early')).toMatchObject(completed('early'));
    expect(await ended('cached')).toMatchObject(completed([1, 1]));
    expect(await ended('busy')).toMatchObject(completed('yielded'));
    expect(await ended('verifies')).toMatchObject(completed('function'));
    expect(await ended('classes')).toMatchObject(completed(true));
  });

  test('are retried according to their own options, or those of the configuration', async () => {
    expect(await ended('flaky')).toMatchObject(completed({ attempts: 3 }, 3));
    const refused = { status: 'FAILED', attemptCount: 1 };
    expect(await ended('hopeless')).toMatchObject({ ...refused, error: { message: 'there is no point' } });
    expect(await ended('checked', { count: 'x' })).toMatchObject(refused);
    expect(await ended('refused-call')).toMatchObject(refused);
    expect(await ended('too-much')).toMatchObject(refused);
    expect(await ended('larger')).toMatchObject(completed('small-1x', 2));
    expect(await ended('forgiving')).toMatchObject(refused);
    expect(await ended('step-retries')).toMatchObject(completed({ thrown: 3, text: 'ok', requests: 2 }));
  });

  test('have their context, metadata, tags, usage and log', async () => {
    const { output: ctx, id } = await served.run('context', {}, { tags: ['seen'] });
    expect(ctx).toMatchObject({
      task: { id: 'context', filePath: 'trigger/basics.ts' },
      attempt: { number: 1 },
      run: { id, tags: ['seen'], isTest: false, isReplay: false, maxAttempts: 2, maxDuration: 120 },
      queue: { name: 'task/context' },
      environment: { slug: how, type: how === 'dev' ? 'DEVELOPMENT' : 'PRODUCTION' },
      project: { ref: served.server.projectRef },
      machine: { name: 'small-1x', cpu: 0.5, memory: 0.5 },
    });
    expect(ctx.run.idempotencyKey).toBeNull();
    const { output: keyed } = await served.run(
      'context',
      {},
      {
        idempotencyKey: 'a'.repeat(64),
        idempotencyKeyOptions: { key: 'order 7', scope: 'global' },
        region: 'eu-central-1',
      },
    );
    expect(keyed.run).toMatchObject({
      idempotencyKey: 'order 7',
      idempotencyKeyScope: 'global',
      region: 'eu-central-1',
    });
    const { output: again } = await served.ended(await served.replay(id));
    expect(again.run).toMatchObject({ isReplay: true, tags: ['seen'] });
    const remembered = await served.run('remembers');
    expect(remembered).toMatchObject({
      output: { current: { step: 'one', list: ['a', 'b'], count: 1 }, step: 'one' },
      metadata: { step: 'one', list: ['a', 'b'], count: 1 },
      tags: ['told'],
    });
    expect(await ended('measured')).toMatchObject(completed({ result: 'slept', took: true, current: true }));
    const talkative = await served.run('talkative');
    expect(talkative.output).toBe('traced');
    const lines = await served.allLogs(talkative.id, 4);
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'shown'],
      ['warn', 'careful'],
      ['log', 'plain'],
      ['error', 'inside'],
    ]);
    expect(lines[0]).toMatchObject({ properties: { n: 1 } });
  });

  test('have their hooks called in order', async () => {
    const callsOf = async (payload: object, attempts: number) => {
      const { id } = await served.run('hooked', payload);
      return (await served.allLogs(id, attempts)).map(({ properties }) => properties.calls);
    };
    expect(await callsOf({}, 1)).toEqual([
      ['middleware', 'init', 'onStart', 'run 1', 'onSuccess 1 1', 'onComplete true', 'cleanup'],
    ]);
    expect(await callsOf({ fail: true }, 2)).toEqual([
      ['middleware', 'init', 'onStart', 'run 1', 'catchError as asked', 'cleanup'],
      [
        'middleware',
        'init',
        'run 2',
        'catchError as asked',
        'onFailure as asked',
        'onComplete false',
        'cleanup',
      ],
    ]);
    expect(await ended('global-hooks')).toMatchObject(completed(['middleware', 'onStart true']));
    expect(await ended('wait-hooks')).toMatchObject(
      completed(['wait task', 'resume task', 'wait token', 'resume token']),
    );
  });

  test('trigger other tasks and wait for them', async () => {
    expect(await ended('parent', { name: 'Ada' })).toMatchObject(
      completed({
        greeting: 'Hello, Ada',
        unwrapped: 'Hello, again',
        failed: { name: 'TypeError', message: 'no E_NO' },
      }),
    );
    expect(await ended('throwing')).toMatchObject({ status: 'FAILED' });
    expect(await ended('unwraps')).toMatchObject(completed({ taskId: 'failing', runId: true }));
    expect(await ended('batches')).toMatchObject(
      completed({ greetings: ['Hello, a', 'Hello, b'], mixed: [true, false], batch: true }),
    );
    expect(await ended('parallel')).toMatchObject(completed(['Hello, a', 'Hello, b', 'Hello, c']));
    expect(await ended('once')).toMatchObject(completed({ same: true, other: true }));
    const family = await served.run('family');
    expect(family).toMatchObject({
      output: 'done',
      metadata: { fromChild: 'hello', children: 1, path: ['child'] },
    });
  });

  test('return, log and throw class instances, and trigger batches without items', async () => {
    const result = { text: 'hi', steps: [{}] };
    expect(await ended('instances')).toMatchObject(
      completed({ result, list: [result], at: new Date(0).toISOString() }),
    );
    expect(await ended('only-instance')).toMatchObject(completed(result));
    expect(await ended('buffers')).toMatchObject(completed([true, true, 'abab']));
    expect(await ended('empty-batches')).toMatchObject(
      completed([
        [[], [], [], []],
        [0, 0, 0, 0],
      ]),
    );
    // Before 4.8 it does not read causes.
    const causes = minor === '4.8' ? ['RangeError: middle', 'TypeError: root'] : [];
    expect(await ended('sees-causes')).toMatchObject(completed(['Error: outer', ...causes]));
    // As in trigger.dev, the waiting run retries after the error of a run that gave up.
    expect(await ended('awaits-gives-up')).toMatchObject({ status: 'FAILED', attemptCount: 2 });
    const { id } = await served.run('logs-errors');
    expect((await served.allLogs(id, 1))[0].properties).toMatchObject({
      error: { message: 'outer', cause: { name: 'TypeError', message: 'root' } },
      n: '1n',
      at: 'Invalid Date',
    });
  });

  test.runIf(minor === '4.8')('respect their declared concurrency', async () => {
    const intervals = async (runs: readonly (readonly [task: string, key?: string])[]) => {
      const ids = await Promise.all(
        runs.map(([task, concurrencyKey]) => served.trigger(task, {}, { concurrencyKey })),
      );
      const outputs: [number, number][] = await Promise.all(
        ids.map(async (id) => (await served.ended(id)).output),
      );
      return outputs;
    };
    /** The maximum number of concurrent runs. */
    const maxConcurrent = (all: readonly (readonly [number, number])[]): number =>
      Math.max(...all.map(([at]) => all.filter(([from, to]) => from <= at && at < to).length));
    expect(maxConcurrent(await intervals([['capped', 'a'], ['capped', 'b'], ['capped']]))).toBe(1);
    const keyed = await intervals([
      ['per-key', 'a'],
      ['per-key', 'a'],
      ['per-key', 'b'],
      ['per-key', 'c'],
    ]);
    expect(maxConcurrent(keyed.slice(0, 2))).toBe(1);
    expect(maxConcurrent(keyed)).toBeLessThanOrEqual(2);
    expect(
      maxConcurrent(await intervals([['first-of-two'], ['second-of-two', 'a'], ['first-of-two', 'b']])),
    ).toBe(1);
  });

  test('wait for time and for tokens', async () => {
    const [slept, later, itself, late] = await Promise.all([
      ended('sleeps', { seconds: 6 }),
      ended('until'),
      ended('completes'),
      ended('times-out'),
    ]);
    expect(slept).toMatchObject(completed({ slept: true }));
    expect(later).toMatchObject(completed('later'));
    expect(itself).toMatchObject(completed({ by: 'itself' }));
    expect(late).toMatchObject(completed('WaitpointTimeoutError'));
    const run = await served.trigger('approval');
    const token = await served.metadata(run, 'token');
    const { key } = served;
    const path = `/api/v1/waitpoints/tokens/${String(token)}/complete`;
    await served.server.ask(path, { method: 'POST', key, body: { data: { by: 'a person' } } });
    expect(await served.ended(run)).toMatchObject(completed({ by: 'a person' }));
  });

  test('call the API with the credential of their run, or with their own key', async () => {
    const { url, projectRef } = served.server;
    const { key } = served;
    expect(await ended('inspects')).toMatchObject(
      completed({
        status: 'COMPLETED',
        output: { greeting: 'Hello, looked at' },
        listed: [true],
        missing: true,
        token: 'string',
      }),
    );
    expect(await ended('manages')).toMatchObject(completed({ task: 'nightly', queues: true }));
    expect(await ended('variables', { project: projectRef })).toMatchObject(completed('yes'));
    expect(await ended('configured', { url, key })).toMatchObject(completed(true));
    if (minor === '4.5' || minor === '4.8') {
      expect(await ended('tokens')).toMatchObject({
        status: 'COMPLETED',
        output: expect.any(String) as string,
        error: undefined,
      });
      expect(await ended('clients', { url, key })).toMatchObject(completed({ id: true, deployments: true }));
    }
  });

  test('end only when their unfinished calls have completed', async () => {
    expect(await ended('background')).toMatchObject(completed('returned'));
    expect(await ended('after-background')).toMatchObject(completed(1));
  });

  test.runIf(minor !== '4.0')('write and read streams', async () => {
    expect(await ended('newer-classes')).toMatchObject(completed(true));
    expect(await ended('pipes')).toMatchObject(completed(['one', 'two', 'three', 'one', 'two', 'three']));
    expect(await ended('pipes-instances')).toMatchObject(completed(2));
    expect(await ended('reads')).toMatchObject(completed(['one', 'two', 'three']));
  });

  test.runIf(minor !== '4.0')('resolve prompts to the definitions in code', async () => {
    expect(await ended('prompted')).toMatchObject(
      completed({
        text: 'Greet Ada.',
        model: 'parrot-1',
        version: 0,
        other: expect.stringContaining('has no version 7') as string,
      }),
    );
  });

  test.runIf(minor !== '4.0')('read input streams', async () => {
    const run = await served.trigger('asks');
    const isWaiting = async (): Promise<boolean> => {
      const { body } = await served.server.ask(`/api/v3/runs/${run}`, { key: served.key });
      return body.status === 'WAITING';
    };
    await served.until(isWaiting);
    expect(await ended('sends', { run, numbers: [1] })).toMatchObject(completed(1));
    await served.until(isWaiting);
    // The code runs again from the beginning, and repeats its earlier waits.
    await served.restart();
    expect(await ended('sends', { run, numbers: [2, 3, 4, 5] })).toMatchObject(completed(4));
    expect(await served.ended(run)).toMatchObject(completed([1, 2, 3, 4, 5, false, null]));
    expect(await ended('sends', { run, numbers: [6] })).toMatchObject({ status: 'FAILED' });
  });

  test('can be canceled', async () => {
    const run = await served.trigger('endless');
    await served.until(async () => (await served.logs(run)).some(({ message }) => message === 'begun'));
    await served.server.ask(`/api/v2/runs/${run}/cancel`, { method: 'POST', key: served.key });
    expect(await served.ended(run)).toMatchObject({ status: 'CANCELED' });
    await served.until(async () => (await served.logs(run)).some(({ message }) => message === 'cancelled'));
  });
});
