import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startProject } from '../support/project.ts';
import { hasPrometheus, promtool, startPrometheus, unlessMissing } from '../support/prometheus.ts';
import { testServer, type TestServer } from '../support/server.ts';

const deploy = (path: string): string => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));

const files = {
  'tasks/work.ts': `
    import { task, wait } from '@millrace/sdk';
    export const add = task({ id: 'add', run: async ({ n }: { n: number }) => n + 1 });
    export const broken = task({ id: 'broken', retry: { maxAttempts: 2, minTimeoutInMs: 10 }, run: async () => { throw new Error('no'); } });
  `,
};

const patience = { timeout: 30_000, interval: 200 };
const scrape = async (server: TestServer, accept = 'text/plain') => {
  const response = await fetch(server.metricsUrl, { headers: { accept } });
  return {
    type: response.headers.get('content-type') ?? '',
    bytes: Buffer.from(await response.arrayBuffer()),
  };
};
const textOf = async (server: TestServer) => (await scrape(server)).bytes.toString();
const trigger = (server: TestServer, task: string, body: object = {}) =>
  server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body });

/** A server that has caused every metric to be counted. */
async function busyServer(): Promise<TestServer> {
  const server = await testServer();
  await startProject(server, files);
  for (let n = 0; n < 5; n++) await trigger(server, 'add', { payload: { n } });
  await trigger(server, 'broken');
  await server.ask('/api/v1/schedules', {
    method: 'POST',
    body: { task: 'add', cron: '* * * * *', deduplicationKey: 'k' },
  });
  await expect
    .poll(() => textOf(server), patience)
    .toMatch(/millrace_error_groups_new_total\{[^}]*task="broken"\} 1\n/);
  await expect.poll(() => textOf(server), patience).toMatch(/millrace_runners\{[^}]*\} 1\n/);
  return server;
}

interface Dashboard {
  readonly title: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string; readonly refId: string }[];
  }[];
}

const readDashboard = async (): Promise<Dashboard> =>
  JSON.parse(await readFile(deploy('grafana/millrace.json'), 'utf8')) as Dashboard;
/** Expressions as Grafana sends them. */
const resolved = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$(project|environment)/g, '.*');

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}
const readAlerts = async (): Promise<readonly { readonly alert: string; readonly expr: string }[]> =>
  (parse(await readFile(deploy('prometheus/alerts.yml'), 'utf8')) as Rules).groups.flatMap(
    ({ rules }) => rules,
  );

test('the metrics cover the activity of a fleet, and the dashboard, the alerts and the scaling use no other metrics', async () => {
  const server = await busyServer();
  const labels = `project="${server.projectRef}",environment="prod"`;
  for (const line of [
    `millrace_runs_triggered_total{${labels},task="add"} 5`,
    `millrace_runs_total{${labels},task="add",status="completed"} 5`,
    `millrace_runs_total{${labels},task="broken",status="failed"} 1`,
    `millrace_retries_total{${labels},task="broken"} 1`,
    `millrace_attempt_duration_seconds_count{${labels},task="broken"} 2`,
    `millrace_queue_wait_seconds_count{${labels},queue="task/add"} 5`,
    `millrace_runners{${labels},pool="default"} 1`,
    `millrace_error_groups{${labels},status="unresolved"} 1`,
  ])
    await expect.poll(() => textOf(server), patience).toContain(`${line}\n`);
  const text = await textOf(server);
  expect(text).toMatch(/millrace_slots_free\{[^}]*\} [1-9]/);
  expect(text).toMatch(/millrace_job_ticks_total\{job_name="scheduler"\} [1-9]/);
  expect(text).toMatch(/millrace_database_connections\{pool="engine"\} [1-4]/);
  expect(text).toMatch(/millrace_group_commit_size_count\{statement="trigger"\} [1-9]/);

  const exposed = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [name, ...['bucket', 'sum', 'count'].map((part) => `${name}_${part}`)] : [name],
    ),
  );
  const dashboard = await readDashboard();
  const expressions = [
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...dashboard.templating.list.map(({ query }) => JSON.stringify(query)),
    ...(await readAlerts()).map(({ expr }) => expr),
    await readFile(deploy('kubernetes/keda.yml'), 'utf8'),
    (await readFile(deploy('kubernetes/hpa.yml'), 'utf8')).replaceAll('millrace_slots_needed', ''),
    await readFile(fileURLToPath(new URL('../../docs/metrics.md', import.meta.url)), 'utf8'),
  ];
  const named = new Set(
    expressions.flatMap((expression) => expression.match(/\b(?:millrace|process)_\w+/g) ?? []),
  );
  expect([...named].filter((name) => !exposed.has(name))).toEqual([]);
  // Each metric of ours is documented.
  const page = expressions.at(-1) ?? '';
  const ours = [...text.matchAll(/^# TYPE (millrace_\S+) /gm)].map(([, name]) => name ?? '');
  expect(ours.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test('the dashboard has panels with unique positions and targets', async () => {
  const { panels, title } = await readDashboard();
  expect(title).toBe('Millrace');
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map((panel) => panel.title)).size).toBe(panels.length);
  expect(new Set(panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`)).size).toBe(panels.length);
  for (const { gridPos, targets } of panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    expect(targets.length).toBeGreaterThan(0);
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
  }
});

describe.skipIf(!hasPrometheus)(`with Prometheus${unlessMissing}`, () => {
  test('promtool accepts the alerts and the configuration, and their unit tests pass', async () => {
    promtool('check', 'config', deploy('prometheus/prometheus.yml'));
    promtool('test', 'rules', deploy('prometheus/alerts.test.yml'));
    const tests = await readFile(deploy('prometheus/alerts.test.yml'), 'utf8');
    for (const { alert } of await readAlerts()) expect(tests).toContain(`alertname: ${alert}`);
  });

  test('promtool parses every expression of the dashboard and of the scaling', async () => {
    const { panels } = await readDashboard();
    const keda = parse(await readFile(deploy('kubernetes/keda.yml'), 'utf8')) as {
      spec: { triggers: { metadata: { query: string } }[] };
    };
    const expressions = [
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => resolved(expr))),
      ...keda.spec.triggers.map(({ metadata }) => metadata.query),
    ];
    const folder = await mkdtemp(join(tmpdir(), 'millrace-rules-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const rules = expressions.map((expr, index) => ({ record: `test:expression:${index}`, expr }));
    await writeFile(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'expressions', rules }] }));
    expect(promtool('check', 'rules', join(folder, 'rules.yml'))).toContain(
      `${expressions.length} rules found`,
    );
  });

  test('it scrapes a real server as text, each query of the dashboard has a result, and the queue age alert fires', async () => {
    const server = await busyServer();
    const [runner] = (await server.ask('/api/v1/runners')).body.data as { id: string }[];
    await server.ask(`/api/v1/runners/${runner?.id}/drain`, { method: 'POST', body: {} });
    await trigger(server, 'add', { payload: { n: 1 } });
    // The rules unchanged, except for shorter durations.
    const rules = (await readFile(deploy('prometheus/alerts.yml'), 'utf8')).replace(
      "> 300\n        for: 5m\n        labels: { severity: warning }\n        annotations:\n          summary: 'Runs of",
      "> 3\n        for: 1s\n        labels: { severity: warning }\n        annotations:\n          summary: 'Runs of",
    );
    expect(rules).toContain('> 3\n');
    const prometheus = await startPrometheus(server.metricsUrl, { rules });
    const firing = async () =>
      ((await prometheus.get('alerts')).alerts as { state: string; labels: Record<string, string> }[]).filter(
        ({ state }) => state === 'firing',
      );
    await expect
      .poll(firing, { timeout: 50_000, interval: 500 })
      .toMatchObject([{ labels: { alertname: 'MillraceQueueOld', environment: 'prod', queue: 'task/add' } }]);
    const { panels } = await readDashboard();
    for (const { expr } of panels.flatMap(({ targets }) => targets))
      expect([expr, Array.isArray(await prometheus.query(resolved(expr)))]).toEqual([expr, true]);
    const [keda] = await prometheus.query(
      'sum(max by (queue) (millrace_runs_waiting{environment="prod", state="ready"})) or vector(0)',
    );
    expect(keda?.value[1]).toBe('1');
  });

  test('with native histograms it scrapes protobuf, and reads quantiles from native buckets', async () => {
    const server = await busyServer();
    const { type, bytes } = await scrape(
      server,
      'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;q=0.3',
    );
    expect(type).toContain('encoding=delimited');
    expect(bytes.includes('millrace_queue_wait_seconds')).toBe(true);
    const flags = ['--enable-feature=native-histograms'];
    const prometheus = await startPrometheus(server.metricsUrl, { rules: 'groups: []', flags });
    const value = async (expression: string) => Number((await prometheus.query(expression))[0]?.value[1]);
    await expect
      .poll(() => value('sum(histogram_count(millrace_attempt_duration_seconds{task="broken"}))'), patience)
      .toBe(2);
    const [sum, p99] = [
      await value('sum(histogram_sum(millrace_attempt_duration_seconds{task="add"}))'),
      await value('histogram_quantile(0.99, millrace_attempt_duration_seconds{task="add"})'),
    ];
    expect(p99).toBeGreaterThan(0);
    expect(p99).toBeLessThanOrEqual(sum * 1.1);
    // Protobuf contains the others as well.
    expect(await value('millrace_runners{environment="prod"}')).toBe(1);
    expect(await value('sum(millrace_http_request_duration_seconds_count)')).toBeGreaterThan(5);
    expect(await value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect((await prometheus.get('targets')).activeTargets).toMatchObject([{ health: 'up', lastError: '' }]);
  });
});
