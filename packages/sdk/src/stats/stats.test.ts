import { afterEach, expect, test } from 'vitest';
import { BadRequestError, configure, stats } from '../index.ts';
import { startServer, type HttpServer } from '../testing/http-server.ts';

let server: HttpServer;
afterEach(() => server.close());

const at = '2026-11-23T12:00:00.000Z';

test('sends the request, and returns times as dates', async () => {
  server = await startServer(() => ({
    body: {
      from: at,
      to: at,
      stepMs: 60_000,
      series: [{ name: 'mail', total: {}, points: [{ at, completed: 3 }] }],
    },
  }));
  configure({ baseURL: server.url, secretKey: 'k' });
  const from = new Date(at);
  const found = await stats.retrieve({ by: 'task', limit: 3, from, to: from, step: '5m' });
  expect(found).toMatchObject({ from, to: from, stepMs: 60_000 });
  expect(found.series[0]?.points[0]).toMatchObject({ at: from, completed: 3 });
  const { searchParams } = new URL(server.received[0]?.path ?? '', 'http://x');
  expect(Object.fromEntries(searchParams)).toEqual({ by: 'task', limit: '3', from: at, to: at, step: '5m' });
});

test("a rejected range is a BadRequestError with the server's message", async () => {
  server = await startServer(() => ({ status: 400, body: { error: 'step: too fine. Use step=1h.' } }));
  configure({ baseURL: server.url, secretKey: 'k' });
  await expect(stats.retrieve({ step: '1m' })).rejects.toThrow(BadRequestError);
  await expect(stats.retrieve({ step: '1m' })).rejects.toThrow('Use step=1h');
});
