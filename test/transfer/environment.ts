/** An environment with records of each kind, and its content for a comparison with another one. */
import { expect } from 'vitest';
import { promote } from '../support/promote.ts';
import type { TestServer } from '../support/server.ts';

const report = { id: 'report', filePath: 'tasks/report.ts', scheduled: true };
const cleanup = { id: 'cleanup', filePath: 'tasks/cleanup.ts', scheduled: true };
const index = { id: 'index', filePath: 'tasks/index.ts', batch: { maxSize: 9, maxWaitMs: 3_600_000 } };
const mail = { id: 'mail', filePath: 'tasks/mail.ts', queue: { name: 'mails', concurrencyLimit: 5 } };

/** Declares tasks in prod. */
async function deploy(server: TestServer, tasks: readonly object[]): Promise<void> {
  const body = { contentHash: `content-${tasks.length}`, tasks };
  expect(await server.ask('/runner/v1/versions', { method: 'POST', body })).toMatchObject({ status: 200 });
  await promote(server.url, server.keys.prod);
}

/** The tasks of the source, except one. */
export const deployTasks = (server: TestServer): Promise<void> => deploy(server, [report, mail, index]);

/** Fills prod of the source. */
export async function fill(source: TestServer): Promise<void> {
  await deploy(source, [report, cleanup, mail, index]);
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await source.ask(path.replace(':project', source.projectRef), { method, body });
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(200);
    return answer.body as { id: string };
  };
  const post = (path: string, body: unknown) => ask('POST', path, body);
  await post('/api/v1/projects/:project/envvars/prod', { name: 'LOG_LEVEL', value: 'debug' });
  await post('/api/v1/projects/:project/envvars/prod', { name: 'EMPTY', value: '' });
  await post('/api/v1/projects/:project/envvars/prod', {
    name: 'STRIPE_KEY',
    value: 'sk_live_0123456789',
    isSecret: true,
  });
  await ask('PUT', '/api/v1/concurrency', { paused: true, concurrencyLimit: 20 });
  await post('/api/v1/queues/mails/concurrency/override', { type: 'custom', concurrencyLimit: 2 });
  await post('/api/v1/queues/mails/rate-limit/override', {
    type: 'custom',
    rateLimit: { limit: 10, period: 60, burst: 2 },
  });
  await post('/api/v1/queues/report/pause', { type: 'task', action: 'pause' });
  await ask('PUT', '/api/v1/retention', { runsDays: 90 });
  await post('/api/v1/run-paths', { path: 'metadata.customer.id' });
  const endpoints = '/api/v1/projects/:project/notifications/prod/endpoints';
  const hook = await post(endpoints, { url: 'https://example.com/hook', types: ['run.failed', 'alert.*'] });
  const off = await post(endpoints, { url: 'https://example.com/off', types: ['*'], description: 'old' });
  await ask('PATCH', `${endpoints}/${off.id}`, { enabled: false });
  const chat = await post(endpoints, { kind: 'slack', url: 'https://hooks.example.com/hooks-secret' });
  const alerts = '/api/v1/projects/:project/alerts/prod';
  const alert = await post(alerts, {
    kind: 'queue.age',
    queue: 'mails',
    threshold: 120,
    endpoints: [hook.id],
  });
  await ask('PATCH', `${alerts}/${alert.id}`, { enabled: false });
  await post(alerts, { kind: 'runner.none', name: 'with the chat', endpoints: [chat.id] });
  await post('/api/v1/projects/:project/error-rules', { message: 'connect *', groupKey: 'network' });
  await post('/api/v1/schedules', {
    task: 'report',
    cron: '0 9 * * 1-5',
    timezone: 'Europe/Paris',
    deduplicationKey: 'daily',
    externalId: 'user_1',
    window: '15m',
    missed: 'skip',
    overlap: 'queue',
    active: false,
  });
  await post('/api/v1/schedules', { task: 'cleanup', cron: '0 1 * * *', deduplicationKey: 'of-cleanup' });
  await fillRuns(post);
}

async function fillRuns(post: (path: string, body: unknown) => Promise<{ id: string }>): Promise<void> {
  const trigger = (task: string, body: unknown) => post(`/api/v1/tasks/${task}/trigger`, body);
  await trigger('mail', {
    payload: { to: 'ada@example.com' },
    options: {
      tags: ['a', 'b'],
      metadata: { customer: { id: 42 } },
      ttl: '2h',
      priority: 5,
      concurrencyKey: 'customer-42',
      machine: 'small-1x',
      maxAttempts: 7,
      maxDuration: 300,
      region: 'eu',
      description: 'to Ada',
    },
  });
  await trigger('report', { payload: null, options: { delay: '2030-01-02T03:04:05.000Z', test: true } });
  await trigger('report', {
    payload: 'of-the-month',
    options: {
      payloadType: 'text/plain',
      idempotencyKey: 'report-2026-11',
      idempotencyKeyOptions: { key: '2026-11', scope: 'global' },
    },
  });
  await trigger('unknown', {
    payload: '{"json":{"at":"2026-11-28T00:00:00.000Z"},"meta":{"values":{"at":["Date"]}}}',
    options: { payloadType: 'application/super+json', queue: { name: 'other' } },
  });
  await trigger('index', { payload: 'collected with others' });
  const { id } = await trigger('mail', { payload: { cancelled: true } });
  await post(`/api/v2/runs/${id}/cancel`, {});
  await trigger('mail', { payload: { text: 'x'.repeat(600_000) }, options: { singleton: { key: 's' } } });
}

/** The content of prod of a server, without ids and creation times. */
export async function rememberedOf(server: TestServer) {
  const get = async (path: string) => {
    const answer = await server.ask(path.replace(':project', server.projectRef));
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(200);
    return answer.body;
  };
  const endpoints = (await get('/api/v1/projects/:project/notifications/prod/endpoints')).data as {
    id: string;
    url: string;
  }[];
  const urls = new Map(endpoints.map(({ id, url }) => [id, url]));
  const variables = (await get('/api/v1/projects/:project/envvars')).variables as Record<string, string>;
  const listed = (await get('/api/v1/projects/:project/envvars/prod')) as {
    name: string;
    isSecret: boolean;
  }[];
  const live = 'filter[status]=QUEUED,DELAYED,PENDING_VERSION&filter[createdAt][from]=0&page[size]=100';
  const { data: runs } = await get(`/api/v1/runs?${live}`);
  const whole = await Promise.all(
    // Except a run that has the payloads of many triggers.
    (runs as { id: string; taskIdentifier: string }[])
      .filter(({ taskIdentifier }) => taskIdentifier !== index.id)
      .map(({ id }) => get(`/api/v3/runs/${id}?trigger=true`)),
  );
  const { running: _, queued: __, ...concurrency } = await get('/api/v1/concurrency');
  const { data: queues } = await get('/api/v1/queues?perPage=100');
  const rates = new Map(
    (queues as { name: string; rateLimit: { override: unknown } }[]).map((queue) => [
      queue.name,
      queue.rateLimit.override,
    ]),
  );
  return {
    concurrency,
    variables: listed.map(({ name, isSecret }) => [name, variables[name], isSecret]),
    retention: await get('/api/v1/retention'),
    paths: pick(await get('/api/v1/run-paths'), ['path']),
    queues: pick({ data: queues }, ['name', 'type', 'paused', 'concurrencyLimit'])
      .map((queue): ImportReport => ({ ...queue, rate: rates.get(String(queue['name'])) }))
      .filter((queue) => queue['name'] !== 'cleanup'),
    endpoints: pick({ data: endpoints }, ['kind', 'url', 'types', 'enabled', 'description']),
    alerts: pick(await get('/api/v1/projects/:project/alerts/prod'), [
      'kind',
      'name',
      'task',
      'queue',
      'threshold',
      'window',
      'quiet',
      'enabled',
      'endpoints',
    ]).map((alert) => ({
      ...alert,
      endpoints: (alert['endpoints'] as string[] | null)?.map((id) => urls.get(id)),
    })),
    rules: pick(await get('/api/v1/projects/:project/error-rules'), ['task', 'type', 'message', 'groupKey']),
    schedules: pick(await get('/api/v1/schedules?perPage=100'), [
      'task',
      'active',
      'deduplicationKey',
      'externalId',
      'generator',
      'timezone',
      'window',
      'missed',
      'overlap',
    ]),
    runs: (await Promise.all(whole.map(runOf))).toSorted(byText),
  };
}

type ImportReport = Readonly<Record<string, unknown>>;

const byText = (a: ImportReport, b: ImportReport): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

const pick = ({ data }: { data: ImportReport[] }, names: readonly string[]): ImportReport[] =>
  data.map((item) => Object.fromEntries(names.map((name) => [name, item[name]]))).toSorted(byText);

/** A payload may be stored separately in one and inline in the other. */
async function runOf({ payloadPresignedUrl, ...run }: ImportReport): Promise<ImportReport> {
  const payload =
    typeof payloadPresignedUrl === 'string'
      ? await (await fetch(payloadPresignedUrl)).json()
      : run['payload'];
  const [picked] = pick({ data: [run] }, [
    'taskIdentifier',
    'status',
    'queue',
    'tags',
    'metadata',
    'ttl',
    'delayedUntil',
    'idempotencyKey',
    'isTest',
    'region',
    'description',
    'trigger',
  ]);
  return { ...picked, payload };
}
