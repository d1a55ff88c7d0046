import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ApiClient } from '../client/api-client.ts';
import { followRecords } from './follow.ts';

/** Waits until written data has arrived. */
const arrival = async (): Promise<void> => {
  for (let n = 0; n < 500; n++) await new Promise((resolve) => setImmediate(resolve));
};

test('waits for an event that takes a minute to arrive as long as parts of it arrive', async () => {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    responses.push(response);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = new ApiClient({ baseURL: `http://127.0.0.1:${port}`, secretKey: 'svc_dev_sk_x' });
  const next = followRecords(client, '/stream', {}).next();
  while (responses.length === 0) await arrival();
  const data = JSON.stringify({ records: [{ seq_num: 0, timestamp: 1, body: 'slow' }] });
  for (const part of ['event: batch\n', 'data: ', data.slice(0, 9), data.slice(9), '\n\n']) {
    responses[0]?.write(part);
    await arrival();
    vi.advanceTimersByTime(20_000);
    await arrival();
  }
  expect((await next).value).toMatchObject({ seq: 0, body: 'slow' });
  expect(responses).toHaveLength(1);
});
