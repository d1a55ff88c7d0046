import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { descendants, isAlive, millrace, type Running } from '../cli/command.ts';
import { testServer } from '../support/server.ts';
import { isLong } from '../support/long.ts';
import { eventually } from '../support/eventually.ts';
import { startSystem, type RunMessage, type System } from './project.ts';
import { promote } from '../support/promote.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A runner of the system with additional options. */
async function work(system: System, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const runner = millrace(['work', '--env', 'prod', '--json', ...args], {
    cwd: system.folder,
    env: { ...env, MILLRACE_API_URL: system.url, MILLRACE_SECRET_KEY: system.key },
  });
  onTestFinished(async () => {
    runner.kill('SIGKILL');
    await runner.exitCode;
  });
  await runner.line(/^\{"runner"/);
  await promote(system.url, system.key);
  return runner;
}

const hold = async (system: System, until: string): Promise<string> => {
  const body = { payload: { until, value: 'done' } };
  return (await system.call<{ id: string }>('/api/v1/tasks/hold/trigger', { method: 'POST', body })).id;
};
const show = (system: System, id: string) => system.call<RunMessage>(`/api/v3/runs/${id}`);
const isExecuting = (system: System, id: string) =>
  eventually(
    () => show(system, id),
    ({ status }) => status === 'EXECUTING',
    20_000,
  );
const eventsOf = ({ stderr }: Running) =>
  stderr.map((line) => JSON.parse(line) as Record<string, unknown> & { event: string; time: string });
/** The server saw runners that left and released this run, and no lost runner. */
const expectNoLoss = ({ server }: System, run: string): void => {
  const events = eventsOf(server);
  const names = events.map(({ event }) => event);
  expect(names).not.toContain('runner.lost');
  expect(names).not.toContain('runs.rescued');
  expect(names).toContain('runner.left');
  expect(events).toContainEqual(
    expect.objectContaining({ level: 'info', event: 'runs.released', runs: [run] }),
  );
};

test(
  'a runner that receives a stop signal exits by the end of its grace period and lists the runs that it released; each runs elsewhere once',
  { timeout: 90_000 },
  async () => {
    const system = await startSystem();
    const until = join(system.folder, 'go');
    const runner = await work(system, [], { MILLRACE_GRACE: '2s' });
    const id = await hold(system, until);
    await isExecuting(system, id);
    const children = await descendants(runner.pid);
    const requestedAt = Date.now();
    runner.kill('SIGTERM');
    expect(await runner.exitCode).toBe(0);
    const took = Date.now() - requestedAt;
    expect(took).toBeGreaterThan(1_900);
    // At most two seconds after the grace period; the rest allows for a busy machine.
    expect(took).toBeLessThan(6_000);
    await expect
      .poll(async () => (await Promise.all(children.map(isAlive))).filter(Boolean), { timeout: 10_000 })
      .toEqual([]);
    const events = eventsOf(runner);
    expect(events.find(({ event }) => event === 'runs.released')).toMatchObject({
      level: 'warn',
      why: 'unfinished',
      runs: [id],
    });
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['runner.connected', 'version.served', 'runner.stopping', 'runner.stopped']),
    );
    for (const { time } of events) expect(new Date(time).getTime()).toBeGreaterThan(requestedAt - 60_000);

    await writeFile(until, '');
    await work(system, []);
    const ended = await eventually(
      () => show(system, id),
      ({ status }) => status === 'COMPLETED',
      20_000,
    );
    expect(ended).toMatchObject({ output: 'done', attemptCount: 1 });
    expectNoLoss(system, id);
  },
);

test(
  'a run whose runner is repeatedly stopped cleanly completes in the same attempt',
  { timeout: 120_000 },
  async () => {
    const system = await startSystem();
    const until = join(system.folder, 'go');
    const id = await hold(system, until);
    for (let stops = 0; stops < (isLong ? 4 : 2); stops++) {
      const runner = await work(system, ['--grace', '1s']);
      await isExecuting(system, id);
      runner.kill('SIGTERM');
      expect(await runner.exitCode).toBe(0);
      // It is released by then, before its lease expires.
      expect(await show(system, id)).toMatchObject({ status: 'QUEUED' });
    }
    await writeFile(until, '');
    await work(system, []);
    const ended = await eventually(
      () => show(system, id),
      ({ status }) => !['QUEUED', 'EXECUTING'].includes(status),
      20_000,
    );
    expect(ended).toMatchObject({ status: 'COMPLETED', output: 'done', attemptCount: 1 });
    expectNoLoss(system, id);
  },
);

test(
  'a runner whose server does not respond exits in time, and lists the runs that may run again',
  { timeout: 60_000 },
  async () => {
    const system = await startSystem();
    const runner = await work(system, ['--grace', '1s']);
    const id = await hold(system, join(system.folder, 'never'));
    await isExecuting(system, id);
    system.server.kill('SIGSTOP');
    const requestedAt = Date.now();
    runner.kill('SIGTERM');
    expect(await runner.exitCode).toBe(0);
    expect(Date.now() - requestedAt).toBeLessThan(6_000);
    expect(eventsOf(runner)).toContainEqual(
      expect.objectContaining({ level: 'warn', event: 'runs.unconfirmed', runs: [id] }),
    );
  },
);

test(
  'a second signal of any kind stops a runner immediately, and the interrupted runs are listed and released',
  { timeout: 90_000 },
  async () => {
    const system = await startSystem();
    const runner = await work(system, []);
    const until = join(system.folder, 'go');
    const id = await hold(system, until);
    await isExecuting(system, id);
    const children = await descendants(runner.pid);
    runner.kill('SIGTERM');
    await runner.line(/runner\.stopping/);
    await pause(600);
    const requestedAt = Date.now();
    runner.kill('SIGTERM');
    expect(await runner.exitCode).toBe(130);
    expect(Date.now() - requestedAt).toBeLessThan(3_000);
    await expect
      .poll(async () => (await Promise.all(children.map(isAlive))).filter(Boolean), { timeout: 10_000 })
      .toEqual([]);
    expect(eventsOf(runner)).toContainEqual(
      expect.objectContaining({ level: 'warn', event: 'runs.released', why: 'unfinished', runs: [id] }),
    );
    await writeFile(until, '');
    await work(system, []);
    const ended = await eventually(
      () => show(system, id),
      ({ status }) => status === 'COMPLETED',
      20_000,
    );
    expect(ended).toMatchObject({ attemptCount: 1 });
    expectNoLoss(system, id);
  },
);

test.runIf(isLong)(
  'a second signal lists the interrupted runs even if the server does not respond',
  { timeout: 60_000 },
  async () => {
    const system = await startSystem();
    const runner = await work(system, ['--log-level', 'warn']);
    const id = await hold(system, join(system.folder, 'never'));
    await isExecuting(system, id);
    system.server.kill('SIGSTOP');
    runner.kill('SIGTERM');
    let requestedAt = 0;
    let isOver = false;
    const over = runner.exitCode.then((code) => ((isOver = true), code));
    // A slow machine may notice the first signal so late that the next one counts as its echo.
    while (!isOver) {
      await pause(600);
      if (isOver) break;
      requestedAt = Date.now();
      runner.kill('SIGTERM');
      await Promise.race([over, pause(3_000)]);
    }
    expect(await over).toBe(130);
    expect(Date.now() - requestedAt).toBeLessThan(3_000);
    expect(eventsOf(runner)).toMatchObject([
      { event: 'runs.released', why: 'unfinished', runs: [id] },
      { event: 'runs.unconfirmed', runs: [id] },
    ]);
  },
);

test('a closing server does not wait for a body that never ends', { timeout: 60_000 }, async () => {
  const server = await testServer();
  const socket = connect(server.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `POST /api/v1/tasks/a/trigger HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.keys.prod}\r\ncontent-length: 500\r\nexpect: 100-continue\r\n\r\n{"a`,
  );
  // The server has begun to read the request.
  await once(socket, 'data');
  const requestedAt = Date.now();
  await server.close();
  expect(Date.now() - requestedAt).toBeLessThan(9_000);
});
