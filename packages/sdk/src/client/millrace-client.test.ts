import type { StandardSchemaV1 } from '@standard-schema/spec';
import { afterEach, expect, expectTypeOf, test, vi } from 'vitest';
import {
  ConfigurationError,
  MillraceClient,
  type runs,
  schedules,
  task,
  type Run,
  type RunHandle,
} from '../index.ts';
import { startServer, type HttpServer } from '../testing/http-server.ts';

let server: HttpServer | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.close();
  server = undefined;
});
const open = async (): Promise<HttpServer> =>
  (server = await startServer(({ path }) => ({
    body: path.endsWith('/trigger-many') ? { results: [] } : { id: 'run_1', isCached: false },
  })));

const subject: StandardSchemaV1<{ subject: string }, { subject: string; at: Date }> = {
  '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [] }) },
};

/** Exports of a module with tasks, among others. */
const exported = {
  sendEmail: task({ id: 'send-email', schema: subject, run: async ({ at }) => ({ sentAt: at, copies: 1 }) }),
  resize: task({ id: 'resize', run: async (payload: { url: string; at?: Date }) => payload.url.length }),
  ping: task({ id: 'ping', run: () => 'pong' as const }),
  nightly: schedules.task({ id: 'nightly', run: async () => true }),
  greeting: 'hello',
  helper: () => 1,
  // oxlint-disable-next-line typescript/no-explicit-any -- one untyped export must not undo the types of the others
  untyped: undefined as any,
};

test('knows the tasks of a type: ids, payloads and outputs', async () => {
  const { url, received } = await open();
  const client = new MillraceClient<typeof exported>({ baseURL: url, secretKey: 'k' });

  const sent = await client.tasks.trigger('send-email', { subject: 'Hi' }, { tags: ['a'] });
  expectTypeOf(sent).toEqualTypeOf<RunHandle<'send-email', { sentAt: Date; copies: number }>>();
  expectTypeOf((await client.tasks.trigger('resize', { url })).taskIdentifier).toEqualTypeOf<'resize'>();
  await client.tasks.trigger('ping');
  expect(received.map(({ path }) => path)).toEqual([
    '/api/v1/tasks/send-email/trigger',
    '/api/v1/tasks/resize/trigger',
    '/api/v1/tasks/ping/trigger',
  ]);

  expectTypeOf<Parameters<typeof client.tasks.trigger>[0]>().toEqualTypeOf<
    'send-email' | 'resize' | 'ping' | 'nightly'
  >();
  const uncalled = () => [
    expectTypeOf(client.runs.retrieve(sent)).resolves.toEqualTypeOf<Run<{ sentAt: Date; copies: number }>>(),
    // @ts-expect-error: there is no such task
    client.tasks.trigger('send-mail', { subject: 'Hi' }),
    // @ts-expect-error: the payload is that of another task
    client.tasks.trigger('resize', { subject: 'Hi' }),
    // @ts-expect-error: it needs a payload
    client.tasks.trigger('send-email'),
    // @ts-expect-error: the second payload is wrong
    client.tasks.batchTrigger('resize', [{ payload: { url } }, { payload: { url: 1 } }]),
    // @ts-expect-error: each item has the payload of its task
    client.batch.trigger([{ id: 'resize', payload: { subject: 'Hi' } }]),
    client.tasks.batchTrigger('resize', [{ payload: { url } }]),
    client.batch.trigger([
      { id: 'resize', payload: { url } },
      { id: 'ping' },
      { id: 'send-email', payload: { subject: 'Hi' }, options: { delay: '1h' } },
    ]),
  ];
  expect(uncalled).toBeTypeOf('function');
});

test('without a tasks type, accepts the type of one task, or any id', async () => {
  const { url } = await open();
  const client = new MillraceClient({ baseURL: url, secretKey: 'k' });
  const handle = await client.tasks.trigger<typeof exported.resize>('resize', { url });
  expectTypeOf(handle).toEqualTypeOf<RunHandle<'resize', number>>();
  expectTypeOf((await client.tasks.trigger('anything', 1)).taskIdentifier).toEqualTypeOf<string>();
  expectTypeOf(client.runs).toEqualTypeOf<typeof runs>();
});

test('can be created without address and key, and reads them at the first call', async () => {
  vi.stubEnv('MILLRACE_API_URL', undefined);
  vi.stubEnv('MILLRACE_SECRET_KEY', undefined);
  vi.stubEnv('MILLRACE_ACCESS_TOKEN', undefined);
  const client = new MillraceClient<typeof exported>();
  await expect(client.tasks.trigger('ping')).rejects.toThrow(ConfigurationError);
  await expect(client.runs.subscribeToRun('run_1').next()).rejects.toThrow(ConfigurationError);
  const { url, received } = await open();
  vi.stubEnv('MILLRACE_API_URL', url);
  vi.stubEnv('MILLRACE_SECRET_KEY', 'late');
  expect((await client.tasks.trigger('ping')).id).toBe('run_1');
  expect(received[0]?.headers.authorization).toBe('Bearer late');
});

test('clients and copies of this package in one process share connections', async () => {
  const opened = await open();
  let connections = 0;
  opened.server.on('connection', () => (connections += 1));
  for (let n = 0; n < 2; n += 1) {
    vi.resetModules();
    const copy = (await import('../index.ts')) as { MillraceClient: typeof MillraceClient };
    expect(copy.MillraceClient).not.toBe(MillraceClient);
    for (let m = 0; m < 4; m += 1)
      await new copy.MillraceClient({ baseURL: opened.url, secretKey: 'k' }).runs.cancel('run_1');
  }
  expect(opened.received).toHaveLength(8);
  expect(connections).toBe(1);
});
