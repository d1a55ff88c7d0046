import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { testServer } from '../../../../test/support/server.ts';
import { installation } from '../../../../test/access/installation.ts';

test('a revocation ends the connection of a runner within a second', async () => {
  const { ask, keys, projectRef, server } = await installation();
  const { body: key } = await ask(`POST /api/v1/projects/${projectRef}/prod/keys`, {
    body: { name: 'runner' },
  });
  const connect = async (credential: string): Promise<WebSocket> => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${credential}` },
    });
    await once(socket, 'open');
    return socket;
  };
  const [ending, staying] = [await connect(key.key), await connect(keys.prod)];
  const closed = once(ending, 'close');
  await ask(`POST /api/v1/projects/${projectRef}/prod/keys/${key.id}/revoke`);
  const revokedAt = performance.now();
  await closed;
  // A second, plus a margin for a busy machine.
  expect(performance.now() - revokedAt).toBeLessThan(3_000);
  expect(staying.readyState).toBe(WebSocket.OPEN);
  staying.terminate();
});

test('closes the connection of a runner that stops responding, but not of one that answers pings or sends frames', async () => {
  const server = await testServer({ leaseTimes: { pingMs: 100 } });
  const connect = async (autoPong: boolean): Promise<WebSocket> => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${server.keys.prod}` },
      autoPong,
    });
    await once(socket, 'open');
    return socket;
  };
  const [silent, answering, sending] = [await connect(false), await connect(true), await connect(false)];
  // Its pongs may arrive late, behind earlier frames.
  const frames = setInterval(() => sending.send(JSON.stringify({ type: 'heartbeat' })), 10);
  sending.send(
    JSON.stringify({ type: 'hello', runner: 'r', host: 'h', pid: 1, capacity: 1, versions: [], leased: [] }),
  );
  await once(silent, 'close');
  await sleep(500);
  clearInterval(frames);
  for (const socket of [answering, sending]) {
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.terminate();
  }
});
