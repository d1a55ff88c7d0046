import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { descendants } from '../cli/command.ts';
import { eventually } from '../support/eventually.ts';
import { startSystem, type RunShown, type System } from './project.ts';

const rounds = 6;
const leaseSeconds = 4;

/** A task that notes each execution of a step and of the code after a wait, with its process. */
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

interface Noted {
  readonly run: string;
  readonly what: string;
  readonly pid: number;
}

const notedIn = async (system: System): Promise<Noted[]> =>
  (await readFile(join(system.folder, 'notes'), 'utf8').catch(() => ''))
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [run = '', what = '', pid] = line.split(' ');
      return { run, what, pid: Number(pid) };
    });

/** Triggers runs, and waits until each has begun. */
async function begin(system: System, count: number): Promise<string[]> {
  const body = { payload: { file: join(system.folder, 'notes') } };
  const ids = await Promise.all(
    Array.from(
      { length: count },
      async () =>
        (await system.call<{ id: string }>('/api/v1/tasks/busy/trigger', { method: 'POST', body })).id,
    ),
  );
  await eventually(
    () => notedIn(system),
    (noted) => ids.every((id) => noted.some(({ run }) => run === id)),
    30_000,
  );
  return ids;
}

async function completed(system: System, ids: readonly string[]): Promise<RunShown[]> {
  return eventually(
    () => Promise.all(ids.map((id) => system.call<RunShown>(`/api/v3/runs/${id}`))),
    (runs) => runs.every(({ status }) => status === 'COMPLETED'),
    90_000,
  );
}

/** The processes of the database. */
async function databaseOf(system: System): Promise<number[]> {
  const text = await readFile(join(system.folder, 'data/postgres/postmaster.pid'), 'utf8');
  const postmaster = Number(text.split('\n')[0]);
  return [postmaster, ...(await descendants(postmaster))];
}

const rescuedIn = (system: System): number =>
  [...system.server.stdout, ...system.server.stderr]
    .filter((line) => line.includes('"runs.rescued"'))
    .reduce((sum, line) => sum + (JSON.parse(line) as { runs: number }).runs, 0);

test(
  'a database that is away for longer than a lease takes no run from a live runner, and a dead one is noticed',
  { timeout: 240_000 },
  async () => {
    const system = await startSystem({ MILLRACE_LEASE_SECONDS: String(leaseSeconds) }, tasks);
    const doomed = await system.work({ concurrency: 5 });
    const lost = await begin(system, 5);
    const doomedProcesses = new Set(await descendants(doomed.pid));
    await system.work({ concurrency: 100 });
    const ids = await begin(system, 12);

    const database = await databaseOf(system);
    for (const pid of database) process.kill(pid, 'SIGSTOP');
    try {
      await sleep(leaseSeconds * 250);
      doomed.kill('SIGKILL');
      await doomed.exitCode;
      await sleep(leaseSeconds * 1_750);
    } finally {
      for (const pid of database) process.kill(pid, 'SIGCONT');
    }

    const runs = await completed(system, [...ids, ...lost]);
    expect(new Set(runs.map(({ attemptCount }) => attemptCount))).toEqual(new Set([1]));
    const noted = await notedIn(system);
    const touched = new Set(noted.filter(({ pid }) => doomedProcesses.has(pid)).map(({ run }) => run));
    expect(touched.size).toBeGreaterThanOrEqual(lost.length);
    for (const id of ids.filter((run) => !touched.has(run))) {
      const expected = ['began', ...Array.from({ length: rounds }, (_, n) => [`step${n}`, `wait${n}`]).flat()];
      expect(noted.filter(({ run }) => run === id).map(({ what }) => what)).toEqual(expected);
    }
    expect(rescuedIn(system)).toBeLessThanOrEqual(touched.size);
  },
);
