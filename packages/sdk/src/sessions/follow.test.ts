import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ApiClient } from '../client/api-client.ts';
import { startServer } from '../testing/http-server.ts';
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

test('begins with new records if requested, and resumes after the last one', async () => {
  const record = JSON.stringify({ records: [{ seq_num: 7, timestamp: 1, body: 'new' }] });
  const events = [`event: batch\ndata: ${record}\n\n`, 'data: [DONE]\n\n'];
  const server = await startServer(() => ({
    headers: { 'content-type': 'text/event-stream' },
    body: events.shift(),
  }));
  onTestFinished(() => server.close());
  const client = new ApiClient({ baseURL: server.url, secretKey: 'svc_dev_sk_x' });
  const bodies: string[] = [];
  for await (const { body } of followRecords(client, '/stream', { startsLatest: true })) bodies.push(body);
  expect(bodies).toEqual(['new']);
  const positions = server.received.map(({ headers }) => [
    headers['x-trigger-stream-start'],
    headers['last-event-id'],
  ]);
  expect(positions).toEqual([
    ['latest', undefined],
    [undefined, '7'],
  ]);
});
