import type { StandardSchemaV1 } from '@standard-schema/spec';
import * as superjson from 'superjson';
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import {
  batch,
  configure,
  queue,
  runs,
  task,
  tasks,
  UnserializableError,
  type Run,
  type RunHandle,
} from '../index.ts';
import { runScopes } from '../run-scope.ts';
import { startServer, type HttpServer } from '../testing/http-server.ts';
import { AsyncLocalStorage } from 'node:async_hooks';

let server: HttpServer;
beforeAll(async () => {
  server = await startServer(() => ({ body: { id: 'run_1', isCached: false } }));
});
afterAll(() => server.close());
afterEach(() => {
  server.received.length = 0;
});
const bodies = () => server.received.map(({ body }) => body);

const charge = task({
  id: 'charge',
  queue: queue({ name: 'money', concurrencyLimit: 1 }),
  run: async (payload: { cents: number; at?: Date }, { ctx, signal }) => {
    signal.throwIfAborted();
    return { paid: payload.cents, in: ctx.environment.slug, when: new Date() };
  },
});
const noPayload = task({ id: 'no-payload', run: () => 'done' });

const length: StandardSchemaV1<string, number> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: String(value).length }) },
};
const measured = task({ id: 'measured', schema: length, run: async (count) => count * 2 });

describe('trigger', () => {
  test('sends payload and options and returns a handle', async () => {
    configure({ baseURL: server.url, secretKey: 'k' });
    const handle = await charge.trigger(
      { cents: 5 },
      { delay: new Date(0), queue: 'slow', tags: ['a'], version: '20261121.1', maxAttempts: 1 },
    );
    expect(handle).toEqual({
      id: 'run_1',
      taskIdentifier: 'charge',
      isCached: false,
      isDropped: false,
      publicAccessToken: undefined,
    });
    expect(bodies()).toEqual([
      {
        payload: { cents: 5 },
        options: {
          delay: '1970-01-01T00:00:00.000Z',
          queue: { name: 'slow' },
          tags: ['a'],
          lockToVersion: '20261121.1',
          maxAttempts: 1,
        },
      },
    ]);
  });

  test('writes each kind of payload in the form of its type', async () => {
    configure({ baseURL: server.url, secretKey: 'k' });
    await noPayload.trigger();
    await tasks.trigger('by-id', 'text');
    await charge.trigger({ cents: 1, at: new Date(7) });
    expect(bodies()).toEqual([
      {},
      { payload: 'text', options: { payloadType: 'text/plain' } },
      { payload: expect.any(String), options: { payloadType: 'application/super+json' } },
    ]);
    const { payload } = bodies()[2] as { payload: string };
    expect(superjson.parse(payload)).toEqual({ cents: 1, at: new Date(7) });
  });

  test('rejects a payload that cannot be sent, and sends nothing', async () => {
    configure({ baseURL: server.url, secretKey: 'k' });
    await expect(tasks.trigger('x', () => 1)).rejects.toThrow(UnserializableError);
    await expect(tasks.trigger('x', 1, { metadata: { n: 1n } })).rejects.toThrow(
      /options\.metadata cannot be serialized as JSON: options\.metadata\./,
    );
    expect(server.received).toHaveLength(0);
  });

  test('names the item of a batch that cannot be sent, and the line that called', async () => {
    configure({ baseURL: server.url, secretKey: 'k' });
    const items = [0, 1, 2, 3].map((at) => ({ payload: { user: at === 3 ? { callback: () => at } : null } }));
    const calls: (() => Promise<unknown>)[] = [
      async () => tasks.batchTrigger('x', items),
      async () => batch.trigger(items.map((item) => ({ id: 'x', ...item }))),
      async () => task({ id: 'x', run: (payload: unknown) => payload }).batchTrigger(items),
    ];
    for (const call of calls) {
      const error = await call().catch((thrown: unknown) => thrown as Error);
      expect(error).toMatchObject({
        message:
          'The items[3].payload cannot be serialized: items[3].payload.user.callback is a function. See: millrace help a-value-cannot-be-serialized',
        stack: expect.stringContaining('task.test.ts') as string,
      });
    }
    const metadata = { n: 1n } as never;
    await expect(tasks.batchTrigger('x', [{ payload: 1, options: { metadata } }])).rejects.toThrow(
      'items[0].options.metadata.n is a bigint',
    );
    expect(server.received).toHaveLength(0);
  });

  test('sends the calling run as parent, with the fence of its attempt, unless it uses another key', async () => {
    const scopes = runScopes(() => new AsyncLocalStorage());
    const inRun = (act: () => Promise<unknown>) =>
      scopes.run({ run: 'run_parent', attempt: 1, fence: 7, onLog() {} }, act);
    process.env['MILLRACE_SECRET_KEY'] = 'k';
    try {
      configure({ baseURL: server.url });
      await inRun(() => noPayload.trigger());
      configure({ baseURL: server.url, secretKey: 'another' });
      await inRun(() => noPayload.trigger());
    } finally {
      delete process.env['MILLRACE_SECRET_KEY'];
    }
    expect(bodies()).toEqual([{ options: { parentRunId: 'run_parent', parentFence: 7 } }, {}]);
  });

  test('names the setting to set when there is no key', async () => {
    configure({ baseURL: server.url });
    await expect(noPayload.trigger()).rejects.toThrow(/MILLRACE_SECRET_KEY/);
  });
});

// Only its types matter: the compiler is the test.
const neverCalled = async () => {
  const handle = await charge.trigger({ cents: 1 });
  expectTypeOf(handle).toEqualTypeOf<RunHandle<'charge', { paid: number; in: string; when: Date }>>();
  expectTypeOf((await runs.retrieve(handle)).output).toEqualTypeOf<
    { paid: number; in: string; when: string } | undefined
  >();
  expectTypeOf(await runs.retrieve<typeof measured>('run_1')).toEqualTypeOf<Run<number>>();
  expectTypeOf((await runs.poll(await noPayload.trigger())).output).toEqualTypeOf<string | undefined>();
  expectTypeOf((await runs.retrieve('run_1')).output).toBeUnknown();
  expectTypeOf((await runs.retrieve('run_1')).createdAt).toEqualTypeOf<Date>();

  await measured.trigger('a string, as the schema takes');
  // @ts-expect-error -- the schema takes a string
  await measured.trigger(5);
  // @ts-expect-error -- cents is missing
  await charge.trigger({});
  // @ts-expect-error -- a payload is needed
  await charge.trigger();
  // @ts-expect-error -- there is no such option
  await noPayload.trigger(undefined, { retries: 3 });
  await tasks.trigger<typeof charge>('charge', { cents: 1 });
  // @ts-expect-error -- another id
  await tasks.trigger<typeof charge>('charges', { cents: 1 });
  // @ts-expect-error -- another payload
  await tasks.trigger<typeof charge>('charge', { cents: '1' });
  await tasks.trigger('anything', { any: 'thing' });

  const limits = { maxSize: 10, maxWait: '1s' };
  const indexed = task({
    id: 'index',
    batch: limits,
    run: async (documents: { id: string }[]) => documents.length,
  });
  await indexed.trigger({ id: 'd' }, { batchKey: 'c' });
  // @ts-expect-error -- a trigger brings one payload
  await indexed.trigger([{ id: 'd' }]);
  const checked = task({
    id: 'checked',
    batch: limits,
    schema: length,
    run: async (lengths) => lengths.at(0),
  });
  await checked.trigger('one');
  // @ts-expect-error -- the schema takes a string
  await checked.trigger(['one']);
  const singleton = { onConflict: 'skip' } as const;
  const both = { id: 'both', batch: limits, singleton, run: async (payload: number[]) => payload };
  // @ts-expect-error -- one or the other
  task(both);
};

test('types follow from run and schema', () => {
  expectTypeOf(neverCalled).toBeFunction();
});
