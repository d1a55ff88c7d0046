import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { addressOverTcp } from '../support/pgbouncer.ts';
import { startProject } from '../support/project.ts';
import { testServer, type TestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const files = {
  'tasks/test.ts': `
    import { task, wait } from '@millrace/sdk';
    export const quick = task({ id: 'quick', run: async () => process.env['GREETING'] ?? 'none' });
    export const held = task({ id: 'held', run: async (_: unknown, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    } });
    export const waiting = task({ id: 'waiting', run: async ({ token }: { token: string }) => {
      const result = await wait.forToken<string>(token);
      return result.ok ? result.output : 'timed out';
    } });
  `,
};

const patience = { timeout: 40_000 };

/** Two servers of one database. The second one serves the runner and gets no notification after its proxy to the database is closed. */
async function startServers() {
  const { connection, drop } = await testDatabase();
  onTestFinished(drop);
  const address = new URL(await addressOverTcp(connection));
  const port = Number(address.port);
  let isAway = false;
  // Nothing listens at port 1.
  const proxy = await startTcpProxy(() => (isAway ? 1 : port));
  onTestFinished(proxy.close);
  const direct = new URL(address);
  direct.port = new URL(proxy.url).port;
  const options = { database: address.href, reveal: true, leaseTimes: { heartbeatMs: 2_000 } };
  const near = await testServer(options);
  const far = await testServer({ ...options, directDatabase: direct.href });
  await startProject(far, files);
  return {
    near,
    far,
    deafen() {
      isAway = true;
      proxy.breakAll();
    },
    restore() {
      isAway = false;
    },
  };
}

const trigger = async (server: TestServer, task: string, payload: object = {}): Promise<string> =>
  (await server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body: { payload } })).body.id;

const statusOf = (server: TestServer, run: string) => async (): Promise<string> =>
  (await server.ask(`/api/v3/runs/${run}`)).body.status;

test(
  'a server finds changes in the tables that it missed while it received no notifications',
  { timeout: 240_000 },
  async () => {
    const { near, deafen, restore } = await startServers();
    const queued = await trigger(near, 'held');
    await expect.poll(statusOf(near, queued), patience).toBe('EXECUTING');
    const token = (await near.ask('/api/v1/waitpoints/tokens', { method: 'POST', body: {} })).body.id;
    const waiting = await trigger(near, 'waiting', { token });
    await expect.poll(statusOf(near, waiting), patience).toBe('WAITING');

    deafen();
    const quick = await trigger(near, 'quick');
    await expect.poll(statusOf(near, quick), patience).toBe('COMPLETED');
    const completed = await near.ask(`/api/v1/waitpoints/tokens/${token}/complete`, {
      method: 'POST',
      body: { data: 'done' },
    });
    expect(completed.status).toBe(200);
    await expect.poll(statusOf(near, waiting), patience).toBe('COMPLETED');
    await near.ask(`/api/v2/runs/${queued}/cancel`, { method: 'POST' });
    await expect.poll(statusOf(near, queued), patience).toBe('CANCELED');

    restore();
    const last = await trigger(near, 'quick');
    await expect.poll(statusOf(near, last), patience).toBe('COMPLETED');
  },
);
