import { setTimeout as pause } from 'node:timers/promises';
import { MillraceClient } from '@millrace/sdk';
import { expect, onTestFinished, test, vi } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { startOutageProxy, type Outage } from '../support/outage-proxy.ts';
import { testServer } from '../support/server.ts';
import { sharedServer } from '../support/shared-server.ts';
import { targetOf, through } from '../support/through-proxy.ts';

/** Long enough that five attempts of the client below would not bridge it. */
const outageMs = 1_500;
const outages: readonly Outage[] = ['html', 'refuse', 'hang', 'reset'];

test(
  'calls succeed through four kinds of outages, each trigger creates one run, and one line reports it',
  { timeout: 60_000 },
  async () => {
    const server = await sharedServer();
    const proxy = await startOutageProxy({ port: server.port, host: '127.0.0.1' });
    onTestFinished(proxy.close);
    const onConsole = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => onConsole.mockRestore());
    const { tasks, runs } = new MillraceClient({
      baseURL: proxy.url,
      secretKey: server.keys.prod,
      timeoutInMs: 400,
      retry: { minTimeoutInMs: 20, maxTimeoutInMs: 100 },
    });

    const ids: string[] = [];
    let over = false;
    const caller = async (): Promise<void> => {
      while (!over) {
        const { id } = await tasks.trigger('bridged', { n: ids.length });
        ids.push(id);
        expect((await runs.retrieve(id)).id).toBe(id);
      }
    };
    const callers = Promise.all(Array.from({ length: 4 }, caller));
    for (const outage of outages) {
      const before = ids.length;
      await expect.poll(() => ids.length, { timeout: 20_000 }).toBeGreaterThan(before + 8);
      await proxy.begin(outage);
      await pause(outageMs);
      await proxy.end();
    }
    const before = ids.length;
    await expect.poll(() => ids.length, { timeout: 20_000 }).toBeGreaterThan(before + 8);
    over = true;
    await callers;

    const stored: string[] = [];
    for await (const { id } of runs.list({ taskIdentifier: 'bridged' })) stored.push(id);
    expect(stored.toSorted()).toEqual(ids.toSorted());
    expect(onConsole.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^Millrace at http:\/\/127\.0\.0\.1:\d+ is unavailable \(.+\); retrying for up to 60 s\.$/,
        ),
      ],
    ]);
  },
);

test('a server without its database responds quickly: it is alive, and API calls get a retryable 503', async () => {
  const { connection, drop } = await testDatabase();
  onTestFinished(drop);
  const proxy = await startOutageProxy(targetOf(connection));
  onTestFinished(proxy.close);
  const server = await testServer({ database: through(connection, proxy.port) });
  const trigger = () => server.ask('/api/v1/tasks/bridged/trigger', { method: 'POST', body: {} });
  expect((await trigger()).status).toBe(200);
  for (const outage of ['reset', 'refuse'] as const) {
    await proxy.begin(outage);
    const startedAt = performance.now();
    const refused = await trigger();
    const list = await server.ask('/api/v1/runs');
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    for (const { status, headers } of [refused, list]) {
      expect(status).toBe(503);
      expect(headers.get('x-should-retry')).toBe('true');
      expect(headers.get('retry-after')).toBe('2');
    }
    expect((await server.ask('/healthz')).status).toBe(200);
    await proxy.end();
    await expect.poll(async () => (await trigger()).status, { timeout: 10_000 }).toBe(200);
  }
});
