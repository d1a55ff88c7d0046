import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { testServer } from '../../../../test/support/server.ts';

const scrape = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(url, { headers });
  return { status: response.status, text: await response.text() };
};

test('metrics are rendered at most once per second, without unused series', async () => {
  const server = await testServer();
  await server.ask('/api/v1/errors');
  const writing = vi.spyOn(Registry.prototype, 'getMetricsAsJSON');
  const answers = await Promise.all(Array.from({ length: 50 }, () => scrape(server.metricsUrl)));
  expect(writing.mock.calls.length).toBeLessThan(4);
  writing.mockRestore();
  for (const { status, text } of answers) {
    expect(status).toBe(200);
    expect(text).toContain('route="/api/v1/errors",status="2xx"');
    expect(text.length).toBeLessThan(60_000);
  }
  const labels = new Set(
    [...(answers[0]?.text ?? '').matchAll(/millrace_http_\w+\{([^}]*)\}/g)].flatMap(([, inside = '']) =>
      [...inside.matchAll(/(\w+)="/g)].map(([, name]) => name),
    ),
  );
  expect(labels).toEqual(new Set(['le', 'method', 'route', 'status']));
});

test('the buckets of a histogram do not decrease, and the last one contains the total count', async () => {
  const server = await testServer();
  await server.ask('/api/v1/errors');
  const { text } = await scrape(server.metricsUrl);
  const ofErrors = [...text.matchAll(/^millrace_http_\w+_(\w+)\{.*route="\/api\/v1\/errors".*\} (\S+)$/gm)];
  const values = (part: string) =>
    ofErrors.filter(([, name]) => name === part).map((match) => Number(match[2]));
  const buckets = values('bucket');
  expect(buckets).toHaveLength(14);
  expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
  expect([buckets.at(-1), values('count')]).toEqual([1, [1]]);
  expect(values('sum')[0]).toBeGreaterThan(0);
});

test('on the public port, metrics are served only to this machine, not to forwarded requests', async () => {
  const server = await testServer();
  expect((await scrape(server.metricsUrl)).status).toBe(200);
  for (const header of ['x-forwarded-for', 'forwarded', 'x-forwarded-proto', 'x-real-ip', 'via']) {
    const { status, text } = await scrape(server.metricsUrl, { [header]: '203.0.113.9' });
    expect([header, status, text]).toEqual([header, 403, expect.stringContaining('MILLRACE_METRICS_TOKEN')]);
  }
});

test('with a token, metrics require that token', async () => {
  const token = 'a-token-of-a-scraper';
  const server = await testServer({ metrics: { token } });
  expect((await scrape(server.metricsUrl)).status).toBe(401);
  for (const wrong of ['Bearer nonsense', `Basic ${token}`, token, 'Bearer '])
    expect((await scrape(server.metricsUrl, { authorization: wrong })).status).toBe(401);
  const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.9' };
  expect((await scrape(server.metricsUrl, headers)).status).toBe(200);
});

test('with a separate address, metrics are served only there', async () => {
  const address = { host: '127.0.0.1', port: 0 };
  const server = await testServer({ metrics: { address } });
  expect((await scrape(`${server.url}/metrics`)).status).toBe(404);
  expect(server.metricsUrl).not.toContain(`:${server.port}/`);
  expect((await scrape(server.metricsUrl)).text).toContain('process_cpu_user_seconds_total');
  expect((await scrape(server.metricsUrl.replace('/metrics', '/healthz'))).status).toBe(404);
  const port = Number(new URL(server.metricsUrl).port);
  await expect(testServer({ metrics: { address: { host: '127.0.0.1', port } } })).rejects.toThrow(
    /^The metrics cannot be served at 127\.0\.0\.1:\d+ .*MILLRACE_METRICS_ADDRESS/,
  );
});
