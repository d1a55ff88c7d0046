import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { masterKeyOf } from '../auth/seal.ts';
import { createLog } from '../logger.ts';
import { startServer, type RunningServer } from '../server.ts';

test('ended events are deleted after the retention, with their ids; pending events are retained', async () => {
  const { connection, drop } = await testDatabase();
  const servers: RunningServer[] = [];
  onTestFinished(async () => {
    for (const server of servers) await server.close();
    await drop();
  });
  const start = async (eventsMs: number): Promise<RunningServer> => {
    const server = await startServer({
      database: connection,
      port: 0,
      masterKey: masterKeyOf(Buffer.alloc(32, 1)),
      log: createLog({ write() {} }),
      reveal: true,
      retention: { eventsMs },
    });
    servers.push(server);
    return server;
  };
  const server = await start(86_400_000);
  const key = server.credentials?.environments.prod.secretKey ?? '';
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { data: { id: string }[]; isDuplicate: boolean };
  };
  const send = (id: string, event: unknown) => ask('POST', '/api/v1/events', { id, event });
  await send('over', { name: 'x' });
  await send('waits', { name: 'x', deliverAfter: 3_600 });
  const ids = async () => (await ask('GET', '/api/v1/events')).data.map(({ id }) => id);

  // The job's first tick is at server start.
  await start(1);
  await expect.poll(ids).toEqual(['waits']);
  expect((await send('over', { name: 'x' })).isDuplicate).toBe(false);
});
