import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { millrace, temporaryProject } from '../cli/command.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { promote } from '../support/promote.ts';
import { testServer } from '../support/server.ts';
import { startSilentProxy } from '../support/silent-proxy.ts';
import { targetOf, through } from '../support/through-proxy.ts';

/** Tasks that write a line when they execute, one of them after a wait. */
const tasks = `
import { task, wait } from '@millrace/sdk';
import { appendFile } from 'node:fs/promises';
const effect = (payload: { n: number; file: string }) => appendFile(payload.file, payload.n + '\\n');
export const quick = task({ id: 'quick', run: effect });
export const waits = task({ id: 'waits', run: async (payload: { n: number; file: string }) => {
  await wait.for({ seconds: 8 });
  await effect(payload);
} });
`;

/** A server with a runner, whose connections to the database pass through a proxy. */
async function systemBehind() {
  const { connection, drop } = await testDatabase();
  onTestFinished(drop);
  const proxy = await startSilentProxy(targetOf(connection));
  onTestFinished(proxy.close);
  const server = await testServer({ database: through(connection, proxy.port) });
  const project = await temporaryProject({ 'tasks/test.ts': tasks });
  const runner = millrace(['work', '--env', 'prod', '--concurrency', '50', '--json'], {
    cwd: project.path,
    env: { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod },
  });
  onTestFinished(async () => {
    runner.kill('SIGKILL');
    await runner.exitCode;
    await project.remove();
  });
  await runner.line(/^\{"runner"/);
  await promote(server.url, server.keys.prod);

  const file = join(project.path, 'effects');
  const acknowledged = new Map<number, string>();
  /** Triggers until it is acknowledged, always with the same key, as a client of an API with request keys. */
  const trigger = async (n: number, task = 'quick'): Promise<void> => {
    await eventually(
      async () => {
        const response = await fetch(`${server.url}/api/v1/tasks/${task}/trigger`, {
          method: 'POST',
          headers: { authorization: `Bearer ${server.keys.prod}` },
          body: JSON.stringify({ payload: { n, file }, options: { idempotencyKey: `key ${n}` } }),
        });
        const body = (await response.json()) as { id: string; error?: string };
        if (response.ok) acknowledged.set(n, body.id);
        return `${response.status} ${body.error ?? ''}`;
      },
      () => acknowledged.has(n),
      60_000,
    );
  };
  const ready = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status;
  const sql = connect(connection, { name: 'test', max: 1 });
  onTestFinished(() => sql.end());
  /** Waits until all acknowledged runs have completed; then compares the runs and the effects with the acknowledgements. */
  const expectOnce = async (count: number): Promise<void> => {
    await eventually(
      () => sql<{ status: string; count: number }[]>`
        select status::text, count(*)::int as count from runs group by 1`,
      (rows) => rows.length === 1 && rows[0]?.status === 'COMPLETED',
      60_000,
    );
    expect(await sql`select count(*)::int as count from runs`).toEqual([{ count }]);
    expect(new Set(acknowledged.values()).size).toBe(count);
    const effects = (await readFile(file, 'utf8')).trim().split('\n').map(Number);
    expect(effects.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, n) => n));
  };
  return { connection, proxy, server, trigger, ready, expectOnce };
}

test(
  'recovers within 10 seconds from a database that stops responding and fails over to another address, without losing or duplicating runs',
  { timeout: 180_000 },
  async () => {
    const { connection, proxy, trigger, ready, expectOnce } = await systemBehind();
    let n = 0;
    const pending: Promise<void>[] = [];
    for (; n < 10; n++) pending.push(trigger(n, 'waits'));
    await Promise.all(pending);
    const clients = setInterval(() => pending.push(trigger(n++)), 50);
    onTestFinished(() => clearInterval(clients));
    await eventually(
      async () => n,
      (triggered) => triggered > 40,
      20_000,
    );

    proxy.fallSilent();
    await eventually(ready, (status) => status === 503, 12_000);
    // A probe gets its response in time even if the database does not respond.
    const requestedAt = performance.now();
    expect(await ready()).toBe(503);
    expect(performance.now() - requestedAt).toBeLessThan(2_500);

    proxy.lead(targetOf(connection));
    const backAt = performance.now();
    await trigger(n++);
    expect(performance.now() - backAt).toBeLessThan(10_000);
    await eventually(ready, (status) => status === 200, 10_000 - (performance.now() - backAt));
    clearInterval(clients);
    await Promise.all(pending);
    await expectOnce(n);
  },
);

test('connection resets at any time neither lose nor duplicate runs', { timeout: 180_000 }, async () => {
  const { proxy, trigger, expectOnce } = await systemBehind();
  let n = 0;
  const pauses = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 25, maxLength: 25 });
  const seed = Number(process.env['MILLRACE_TEST_SEED'] ?? Date.now());
  const [drawn = []] = fc.sample(pauses, { numRuns: 1, seed });
  for (const pause of drawn) {
    const pending = Array.from({ length: 8 }, () => trigger(n++));
    // At a random moment of the triggers, claims and outcomes: waiting for a condition would always hit the same moment.
    await new Promise((resolve) => setTimeout(resolve, pause));
    proxy.reset();
    await Promise.all(pending);
  }
  await expectOnce(n);
});
