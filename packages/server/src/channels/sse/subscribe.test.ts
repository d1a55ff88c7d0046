import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { EventStreams } from './event-streams.ts';
import { subscribe } from './subscribe.ts';
import { testStore, texts } from '../testing/store.ts';

test('a stream whose reader is behind does not end as idle', async () => {
  const store = await testStore();
  const key = await store.channel();
  // More than a connection can buffer.
  const count = 14;
  for (let n = 0; n < count; n++) await store.append(key, texts('x'.repeat(1_000_000)));
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  const streams = new EventStreams();
  onTestFinished(() => {
    streams.stop();
    near.destroy();
    server.close();
  });
  const idleMs = 500;
  subscribe(store, streams, { key, subject: 'a', from: 0, framing: 'v2', idleMs }).open({
    socket: far,
    isHttp10: false,
    headers: {},
    whileAllowed: () => () => {},
  });
  await new Promise((resolve) => setTimeout(resolve, 3 * idleMs));
  let text = '';
  near.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await once(near, 'close');
  expect(text.match(/"seq_num":\d+,"timestamp":\d+,"body"/g)).toHaveLength(count);
  expect(text).toContain('data: [DONE]');
});
