import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { descendants, millrace, temporaryProject, type Running } from '../cli/command.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { addressOverTcp } from '../support/pgbouncer.ts';
import { promote } from '../support/promote.ts';
import { testServer, type TestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const rounds = 6;
const leaseMs = 4_000;

/** A task that records each execution of a step and of the code after a wait, with its process. */
const tasks = `
import { appendFileSync } from 'node:fs';
import { step, task, wait } from '@millrace/sdk';
export const busy = task({
  id: 'busy',
  run: async ({ file }: { file: string }, { ctx }) => {
    const note = (what: string) => appendFileSync(file, ctx.run.id + ' ' + what + ' ' + process.pid + '\\n');
    note('began');
    for (let n = 0; n < ${rounds}; n += 1) {
      await step.run('step ' + n, async () => {
        note('step' + n);
        await new Promise((done) => setTimeout(done, 300));
      });
      await wait.for({ seconds: 1 });
      note('wait' + n);
    }
    return 'done';
  },
});
`;

/** Two servers of one database, which can become unreachable for each: its connections break, and new ones fail. */
async function startServers() {
  const { connection, drop } = await testDatabase();
  onTestFinished(drop);
  const address = new URL(await addressOverTcp(connection));
  const port = Number(address.port);
  const start = async () => {
    let isAway = false;
    // Nothing listens at port 1.
    const proxy = await startTcpProxy(() => (isAway ? 1 : port));
    onTestFinished(proxy.close);
    address.port = new URL(proxy.url).port;
    const server = await testServer({
      database: address.href,
      reveal: true,
      leaseTimes: { leaseMs, heartbeatMs: leaseMs / 3 },
    });
    return {
      server,
      goAway() {
        isAway = true;
        proxy.breakAll();
      },
      restore() {
        isAway = false;
      },
    };
  };
  return [await start(), await start()] as const;
}

/** Starts processes that serve a project and ends them with the test. */
async function startProject({ url, keys }: TestServer) {
  const project = await temporaryProject({ 'tasks/test.ts': tasks });
  const started: Running[] = [];
  onTestFinished(async () => {
    for (const runner of started) runner.kill('SIGKILL');
    await Promise.all(started.map((runner) => runner.exitCode));
    await project.remove();
  });
  return {
    file: join(project.path, 'notes'),
    async work(concurrency: number): Promise<Running> {
      const runner = millrace(['work', '--env', 'prod', '--concurrency', String(concurrency), '--json'], {
        cwd: project.path,
        env: { MILLRACE_API_URL: url, MILLRACE_SECRET_KEY: keys.prod },
      });
      started.push(runner);
      await runner.line(/^\{"runner"/);
      await promote(url, keys.prod);
      return runner;
    },
  };
}

interface Noted {
  readonly run: string;
  readonly what: string;
  readonly pid: number;
}

const notedIn = async (file: string): Promise<Noted[]> =>
  (await readFile(file, 'utf8').catch(() => ''))
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [run = '', what = '', pid] = line.split(' ');
      return { run, what, pid: Number(pid) };
    });

/** Triggers runs and waits until each has begun. */
async function begin(server: TestServer, file: string, count: number): Promise<string[]> {
  const trigger = () =>
    server.ask('/api/v1/tasks/busy/trigger', { method: 'POST', body: { payload: { file } } });
  const replies = await Promise.all(Array.from({ length: count }, trigger));
  const ids = replies.map(({ body }) => body.id as string);
  await eventually(
    () => notedIn(file),
    (noted) => ids.every((id) => noted.some(({ run }) => run === id)),
    30_000,
  );
  return ids;
}

const rescuedIn = ({ logged }: TestServer): number =>
  logged
    .filter((line) => line.includes('"runs.rescued"'))
    .reduce((sum, line) => sum + (JSON.parse(line) as { runs: number }).runs, 0);

test(
  'a database outage longer than a lease takes no run from a live runner, and a dead runner is detected',
  { timeout: 240_000 },
  async () => {
    const [first, second] = await startServers();
    const { server } = first;
    const { file, work } = await startProject(server);
    const doomed = await work(5);
    const lost = await begin(server, file, 5);
    const doomedProcesses = new Set(await descendants(doomed.pid));
    await work(100);
    const ids = await begin(server, file, 12);

    first.goAway();
    second.goAway();
    await sleep(leaseMs / 4);
    doomed.kill('SIGKILL');
    await doomed.exitCode;
    await sleep(1.75 * leaseMs);
    // The server that reaches the database first has no connections to the runners; the second server serves them.
    second.restore();
    await sleep(leaseMs / 2);
    first.restore();

    const all = [...ids, ...lost];
    const runs = await eventually(
      () => Promise.all(all.map(async (id) => (await server.ask(`/api/v3/runs/${id}`)).body)),
      (seen) => seen.every(({ status }) => status === 'COMPLETED'),
      90_000,
    );
    expect(new Set(runs.map(({ attemptCount }) => attemptCount))).toEqual(new Set([1]));
    const noted = await notedIn(file);
    const touched = new Set(noted.filter(({ pid }) => doomedProcesses.has(pid)).map(({ run }) => run));
    expect(touched.size).toBeGreaterThanOrEqual(lost.length);
    for (const id of ids.filter((run) => !touched.has(run))) {
      const expected = [
        'began',
        ...Array.from({ length: rounds }, (_, n) => [`step${n}`, `wait${n}`]).flat(),
      ];
      expect(noted.filter(({ run }) => run === id).map(({ what }) => what)).toEqual(expected);
    }
    expect(rescuedIn(first.server) + rescuedIn(second.server)).toBeLessThanOrEqual(touched.size);
  },
);
