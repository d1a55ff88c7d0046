import { once } from 'node:events';
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
  // A second, and the rest for a busy machine.
  expect(performance.now() - revokedAt).toBeLessThan(3_000);
  expect(staying.readyState).toBe(WebSocket.OPEN);
  staying.terminate();
});

test('the connection of a runner that answers no ping ends, and that of one that answers does not', async () => {
  const server = await testServer({ leaseTimes: { pingMs: 100 } });
  const connect = async (autoPong: boolean): Promise<WebSocket> => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${server.keys.prod}` },
      autoPong,
    });
    await once(socket, 'open');
    return socket;
  };
  const [silent, answering] = [await connect(false), await connect(true)];
  await once(silent, 'close');
  expect(answering.readyState).toBe(WebSocket.OPEN);
  answering.terminate();
});
