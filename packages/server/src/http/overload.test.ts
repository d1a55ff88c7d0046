import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createInstallation } from '../auth/testing/installation.ts';
import { Admission } from './admission.ts';
import { createHttpMetrics } from './metrics.ts';
import { createSampleApp, sampleHandlers } from './testing/sample-app.ts';

test('excess requests of one environment wait and are rejected, while others and health checks are answered', async () => {
  const { authenticate, key } = await createInstallation();
  const signals = new EventEmitter();
  let busy = 0;
  const handlers = {
    ...sampleHandlers,
    unruled: async () => {
      busy += 1;
      await once(signals, 'go on');
      return { finished: true };
    },
  };
  const metrics = createHttpMetrics();
  const admission = new Admission({ capacity: 32, share: 16, maxWaitMs: 300 }, metrics.admission);
  const { app } = createSampleApp(authenticate, { handlers, metrics, admission });
  await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const get = (path: string, as?: 'dev' | 'prod') =>
    fetch(base + path, as && { headers: { authorization: key(as) } });

  // Each holds a database connection; here, an environment's share is two.
  const flood = Array.from({ length: 6 }, () => get('/api/v1/unruled', 'dev'));
  await expect.poll(() => busy).toBe(2);
  expect((await get('/api/v1/things', 'prod')).status).toBe(200);
  for (const path of ['/healthz', '/readyz']) expect((await get(path)).status).toBe(200);

  const shed = await Promise.all(flood.slice(2));
  for (const { status, headers } of shed) {
    expect(status).toBe(503);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-millrace-error-code': 'overloaded',
      'x-should-retry': 'true',
      'retry-after': '2',
    });
  }
  signals.emit('go on');
  for (const { status } of await Promise.all(flood.slice(0, 2))) expect(status).toBe(200);
  expect((await get('/api/v1/things', 'dev')).status).toBe(200);

  const exposition = await (await get('/metrics')).text();
  expect(exposition).toContain('millrace_http_queue_seconds_count{outcome="shed"} 4');
  expect(exposition).toContain('millrace_http_waiting 0');
  expect(exposition).toContain('millrace_http_units_in_use 0');
  expect(exposition).toMatch(/millrace_http_admitted_immediately_total [45]/);
});
