import { setTimeout as pause } from 'node:timers/promises';
import { MillraceClient } from '@millrace/sdk';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startOutageProxy, type Outage } from '../support/outage-proxy.ts';
import { sharedServer } from '../support/shared-server.ts';

/** Long enough that five attempts of the client below would not bridge it. */
const outageMs = 1_500;
const outages: readonly Outage[] = ['html', 'refuse', 'hang', 'reset'];

test(
  'calls succeed through four kinds of outages, each trigger creates one run, and one line says so',
  { timeout: 60_000 },
  async () => {
    const server = await sharedServer();
    const proxy = await startOutageProxy(server.port);
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
