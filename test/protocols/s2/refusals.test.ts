import { connect } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import { testServer } from '../../support/server.ts';

test('rejects an append session with an undecodable path as a client error', async () => {
  const { url, logged } = await testServer();
  const session = connect(url);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ':method': 'POST', ':path': '/s2/v1/streams/%zz/records' });
  stream.end();
  const status = await new Promise((resolve, reject) => {
    stream.on('response', (headers) => resolve(headers[':status'])).on('error', reject);
  });
  expect(status).toBe(400);
  expect(logged.filter((line) => line.includes('request.failed'))).toEqual([]);
});
