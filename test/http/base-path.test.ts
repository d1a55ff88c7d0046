import { connect as connectHttp2 } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { installation } from '../access/installation.ts';

test('a base path works for clients, runners and writers, whether the proxy removes the path or not', async () => {
  const { server, keys, ask } = await installation({ basePath: '/tools' });
  for (const base of ['/tools', '']) {
    const listed = await ask(`GET ${base}/api/v1/queues?page=1`, { key: keys.prod });
    expect([base, listed.status]).toEqual([base, 200]);

    // The addresses in responses contain the path.
    const { body } = await ask(`PUT ${base}/api/v2/packets/large`, { key: keys.prod });
    expect(body.presignedUrl).toMatch(new RegExp(`^${server.url}/tools/packets/v1/`));
    expect((await fetch(body.presignedUrl as string, { method: 'PUT', body: '"large"' })).status).toBe(200);

    const socket = new WebSocket(`${server.url.replace('http', 'ws')}${base}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${keys.prod}` },
    });
    onTestFinished(() => socket.terminate());
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));

    const created = await ask(`POST ${base}/api/v1/sessions`, {
      key: keys.prod,
      body: { type: 'chat', taskIdentifier: 'a', triggerConfig: { basePayload: {} } },
    });
    const { headers } = await ask(`PUT ${base}/realtime/v1/sessions/${created.body.id}/in`, {
      key: keys.prod,
    });
    const endpoint = new URL(headers.get('x-s2-endpoint') ?? '');
    expect(endpoint.pathname).toBe('/tools/s2/v1');
    const http2 = connectHttp2(server.url);
    onTestFinished(() => http2.destroy());
    const stream = http2.request({
      ':method': 'POST',
      ':path': `${base}/s2/v1/streams/${headers.get('x-s2-stream-name')}/records`,
      authorization: `Bearer ${headers.get('x-s2-access-token')}`,
    });
    stream.on('error', () => {});
    const status = await new Promise((resolve) => stream.once('response', (got) => resolve(got[':status'])));
    expect([base, status]).toEqual([base, 200]);
  }
  expect((await ask('GET /toolsapi/v1/queues', { key: keys.prod })).status).toBe(404);
});
