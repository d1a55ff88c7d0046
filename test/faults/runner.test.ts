import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { descendants } from '../cli/command.ts';
import { eventually } from '../support/eventually.ts';
import { startSystem, type RunMessage, type System } from './project.ts';

const statuses = async (system: System, ids: readonly string[]): Promise<RunMessage[]> =>
  Promise.all(ids.map((id) => system.call<RunMessage>(`/api/v3/runs/${id}`)));

/** The ids of the processes in which a run was started, in order, as written by the task. */
const processesOf = async (system: System, id: string): Promise<number[]> => {
  const { lines } = await system.call<{ lines: { message: string }[] }>(`/api/v1/runs/${id}/logs`);
  return lines.map((line) => Number(line.message));
};

const allAre = (status: string) => (runs: readonly RunMessage[]) =>
  runs.every((run) => run.status === status);

test(
  'kill -9 of a runner with 50 runs in flight: all run again in another runner, none is lost, and each ends once',
  { timeout: 90_000 },
  async () => {
    const system = await startSystem();
    const first = await system.work();
    const until = join(system.folder, 'go');
    const ids = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const { id } = await system.call<{ id: string }>('/api/v1/tasks/hold/trigger', {
          method: 'POST',
          body: { payload: { until, value: `run ${n}` } },
        });
        return id;
      }),
    );
    await eventually(() => statuses(system, ids), allAre('EXECUTING'), 15_000);
    const second = await system.work();
    const killedAt = Date.now();
    const children = await descendants(first.pid);
    first.kill('SIGKILL');
    await first.exitCode;
    // Each is started a second time, in a process of the other runner.
    const startedIn = await eventually(
      () => Promise.all(ids.map((id) => processesOf(system, id))),
      (all) => all.every((processes) => processes.length === 2),
      15_000,
    );
    const againMs = Date.now() - killedAt;
    for (const [before, after] of startedIn) {
      expect(children).toContain(before);
      expect(children).not.toContain(after);
    }
    // By default within two seconds on an idle machine (measured in bench/); this one may be busy.
    expect(againMs).toBeLessThan(10_000);
    await writeFile(until, '');
    const ended = await eventually(() => statuses(system, ids), allAre('COMPLETED'), 30_000);
    expect(ended.map((run) => run.output)).toEqual(ids.map((_, n) => `run ${n}`));
    // The loss of a runner does not count as a failed attempt of the user's code.
    expect(new Set(ended.map((run) => run.attemptCount))).toEqual(new Set([1]));
    second.kill('SIGTERM');
    expect(await second.exitCode).toBe(0);
  },
);

test(
  'the late completion of a runner that was suspended past its lease is rejected',
  { timeout: 90_000 },
  async () => {
    const system = await startSystem({ MILLRACE_LEASE_SECONDS: '3' });
    const sleeper = await system.work();
    const until = join(system.folder, 'go');
    const { id } = await system.call<{ id: string }>('/api/v1/tasks/hold/trigger', {
      method: 'POST',
      body: { payload: { until, value: 'once' } },
    });
    await eventually(() => statuses(system, [id]), allAre('EXECUTING'), 15_000);
    // Suspends the whole runner including its executors, so that no part of it can act.
    const stopped = [sleeper.pid, ...(await descendants(sleeper.pid))];
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    await system.server.line(/runs\.rescued/);
    await system.work();
    await writeFile(until, '');
    const [ended] = await eventually(() => statuses(system, [id]), allAre('COMPLETED'), 20_000);
    for (const pid of stopped) process.kill(pid, 'SIGCONT');
    // It resumes, learns that it no longer has the attempt, and nothing changes.
    await sleeper.line(/connect/i, sleeper.seen());
    const later = await eventually(() => statuses(system, [id]), allAre('COMPLETED'), 5_000);
    expect(later).toEqual([ended]);
  },
);
