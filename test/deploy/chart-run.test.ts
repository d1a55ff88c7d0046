import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { millrace } from '../cli/command.ts';
import { emptyDatabase } from '../support/database.ts';
import { freePort } from '../../packages/postgres/src/cluster/free-port.ts';
import { hasHelm, installHelm, podOf, render, type Pod } from './helm.ts';

const secrets = {
  'master-key': 'ab'.repeat(32),
  'prod-secret-key': `svc_prod_sk_${'7'.repeat(24)}`,
  'access-token': `svc_pat_${'7'.repeat(40)}`,
};
const values = {
  images: { server: { repository: 'server' }, runner: { repository: 'runner' } },
  database: { existingSecret: 'millrace' },
  masterKey: { existingSecret: 'millrace' },
  server: {
    bootstrap: {
      existingSecret: 'millrace',
      keys: { prodSecretKey: 'prod-secret-key', accessToken: 'access-token' },
    },
  },
  runners: [{ name: 'a', environment: 'prod', existingSecret: 'millrace', labels: ['gpu'], graceSeconds: 3 }],
};

/** Acts as the kubelet for a pod: writes its secrets as files, and starts its program with its arguments and variables. */
async function startPod(
  pod: Pod,
  folder: string,
  all: Readonly<Record<string, string>>,
  own: Record<string, string>,
) {
  const mount = await mkdtemp(join(folder, 'pod-'));
  for (const { secret, projected } of pod.volumes)
    for (const { items } of [
      ...(secret ? [secret] : []),
      ...(projected?.sources ?? []).map((source) => source.secret),
    ])
      for (const { key, path } of items) await writeFile(join(mount, path), `${all[key]}\n`);
  const [{ args, env }] = pod.containers;
  const entries = env.map(({ name, value }): [string, string] => [
    name,
    value.replace('/run/secrets/millrace', mount).replace('/var/lib/millrace', mount),
  ]);
  return millrace([...args, '--json'], { cwd: mount, env: { ...Object.fromEntries(entries), ...own } });
}

test.skipIf(!hasHelm)(
  `the containers of the chart start with their arguments, variables and files, and stop in time${hasHelm ? '' : ' (skipped: set HELM)'}`,
  { timeout: 60_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-chart-run-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const database = await emptyDatabase();
    onTestFinished(() => database.drop());
    const { connection } = database;
    const databaseUrl =
      typeof connection === 'string'
        ? connection
        : `postgresql://${connection.username}@localhost:${connection.port ?? 5432}/${connection.database}?host=${encodeURIComponent(connection.host)}`;
    const all = { ...secrets, 'database-url': databaseUrl };
    const manifests = await render(await installHelm(join(folder, 'bin')), folder, values);

    const [metrics, health] = [await freePort(), await freePort()];
    const server = await startPod(podOf(manifests, 'tasks-millrace'), folder, all, {
      MILLRACE_HOST: '127.0.0.1',
      MILLRACE_PORT: '0',
      MILLRACE_METRICS_ADDRESS: `127.0.0.1:${metrics}`,
    });
    onTestFinished(() => server.kill('SIGKILL'));
    const { url } = JSON.parse(await server.line(/^\{"url"/)) as { url: string };
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()).toContain(
      'millrace_runners_connected',
    );

    const runner = await startPod(podOf(manifests, 'tasks-millrace-runner-a'), folder, all, {
      MILLRACE_API_URL: url,
      MILLRACE_HEALTH_PORT: `127.0.0.1:${health}`,
    });
    onTestFinished(() => runner.kill('SIGKILL'));
    await vi.waitFor(
      async () => {
        expect((await fetch(`http://127.0.0.1:${health}/healthz`)).status).toBe(200);
        // Before a version is deployed: `helm --wait` waits for it.
        expect((await fetch(`http://127.0.0.1:${health}/readyz`)).status).toBe(200);
        const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
        expect(text).toMatch(/^millrace_runners_connected 1$/m);
      },
      { timeout: 20_000, interval: 200 },
    );
    const began = performance.now();
    runner.kill('SIGTERM');
    expect(await runner.exitCode).toBe(0);
    server.kill('SIGTERM');
    expect(await server.exitCode).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
  },
);
