import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSystem, type RunMessage, type System } from '../faults/project.ts';
import { isLong } from '../support/long.ts';
import { eventually } from '../support/eventually.ts';
import { waitingTasks } from './tasks.ts';

const count = 50;

interface Listed {
  readonly data: readonly { readonly id: string; readonly tags: readonly string[] }[];
}

/** Starts parents whose children wait for a file and waits until all of the parents wait for their children. */
async function parentsThatWait(): Promise<{ system: System; ids: string[]; go: () => Promise<void> }> {
  const system = await startSystem({}, waitingTasks);
  await system.work();
  const until = join(system.folder, 'go');
  const ids = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const call = { method: 'POST', body: { payload: { n, until } } };
      return (await system.call<{ id: string }>('/api/v1/tasks/parent/trigger', call)).id;
    }),
  );
  await eventually(
    () => system.call<Listed>('/api/v1/runs?filter[status]=WAITING&page[size]=100'),
    ({ data }) => data.length === count,
    30_000,
  );
  return { system, ids, go: () => writeFile(until, '') };
}

/** All parents complete with the output of their children, and no child was triggered twice. */
async function allComplete(system: System, ids: readonly string[]): Promise<void> {
  for (const [n, id] of ids.entries()) {
    const run = await eventually(
      () => system.call<RunMessage>(`/api/v3/runs/${id}`).catch(() => undefined),
      (seen) => seen !== undefined && !['WAITING', 'QUEUED', 'EXECUTING'].includes(seen.status),
      60_000,
    );
    expect(run).toMatchObject({ status: 'COMPLETED', output: [n * 2, true], attemptCount: 1 });
  }
  const children = await Promise.all(
    ids.map(async (id) => {
      const { relatedRuns } = await system.call<{ relatedRuns: { children: { triggerFunction: string }[] } }>(
        `/api/v3/runs/${id}`,
      );
      return relatedRuns.children.map(({ triggerFunction }) => triggerFunction);
    }),
  );
  expect(children).toEqual(ids.map(() => ['triggerAndWait']));
}

/** How often the code of each parent began, as it wrote to a file: the latest log lines may be lost with PostgreSQL. */
async function began(system: System): Promise<number[]> {
  const noted = (await readFile(join(system.folder, 'go.began'), 'utf8')).trimEnd().split('\n');
  return Array.from({ length: count }, (_, n) => noted.filter((value) => value === String(n)).length);
}

test(
  'kill -9 of the server while 50 runs wait: their code continues where it was',
  { timeout: 180_000 },
  async () => {
    const { system, ids, go } = await parentsThatWait();
    system.server.kill('SIGKILL');
    await system.server.exitCode;
    await go();
    await system.restart();
    await allComplete(system, ids);
    expect(await began(system)).toEqual(ids.map(() => 1));
  },
);

test.runIf(isLong)(
  'kill -9 of PostgreSQL while 50 runs wait: their code continues where it was',
  { timeout: 180_000 },
  async () => {
    const { system, ids, go } = await parentsThatWait();
    const text = await readFile(join(system.folder, 'data/postgres/postmaster.pid'), 'utf8');
    process.kill(Number(text.split('\n')[0]), 'SIGKILL');
    await go();
    await allComplete(system, ids);
    expect(await began(system)).toEqual(ids.map(() => 1));
  },
);

test(
  'kill -9 of the runner while 50 runs wait: their code runs again and triggers nothing twice',
  { timeout: 180_000 },
  async () => {
    const { system, ids, go } = await parentsThatWait();
    const call = { method: 'POST', body: { payload: { count: 5, until: join(system.folder, 'go') } } };
    const batch = await system.call<{ id: string }>('/api/v1/tasks/batches/trigger', call);
    const members = () => system.call<Listed>('/api/v1/runs?filter[tag]=member&filter[status]=EXECUTING');
    await eventually(members, ({ data }) => data.length === 5, 30_000);
    const runner = system.runners.at(-1);
    runner?.kill('SIGKILL');
    await runner?.exitCode;
    await go();
    await system.work();
    await allComplete(system, ids);
    expect(await began(system)).toEqual(ids.map(() => 2));
    const run = await eventually(
      () => system.call<RunMessage>(`/api/v3/runs/${batch.id}`),
      ({ status }) => status === 'COMPLETED',
      30_000,
    );
    expect(run.output).toEqual([['SubtaskError', 0, 2, 4, 6], 42, 0, 14]);
    expect((await system.call<Listed>('/api/v1/runs?filter[tag]=member')).data).toHaveLength(5);
  },
);

/** A task that starts short runs and waits for them: these end long before a server is back that was down when they were requested. */
const askingTasks = `
import { task } from '@millrace/sdk';
import { setTimeout as sleep } from 'node:timers/promises';
export const quick = task({
  id: 'quick',
  run: async (n: number) => {
    await sleep(50);
    return n;
  },
});
export const asking = task({
  id: 'asking',
  run: async (rounds: number) => {
    let sum = 0;
    for (let n = 1; n <= rounds; n += 1) {
      sum += await quick.triggerAndWait(n).unwrap();
      const { runs } = await quick.batchTriggerAndWait([{ payload: n }, { payload: n }]);
      for (const run of runs) if (run.ok) sum += run.output;
    }
    return sum;
  },
});
`;

test.runIf(isLong)(
  'a server outage of 20 s fails no attempt that starts runs and waits for them',
  { timeout: 180_000 },
  async () => {
    const system = await startSystem({}, askingTasks);
    await system.work();
    const rounds = 12;
    const call = { method: 'POST', body: { payload: rounds } };
    const ids = await Promise.all(
      Array.from(
        { length: 10 },
        async () => (await system.call<{ id: string }>('/api/v1/tasks/asking/trigger', call)).id,
      ),
    );
    const childrenOf = async (id: string): Promise<number> => {
      const run = await system.call<{ relatedRuns: { children?: readonly unknown[] } }>(`/api/v3/runs/${id}`);
      return run.relatedRuns.children?.length ?? 0;
    };
    await eventually(
      () => childrenOf(ids[0] ?? ''),
      (children) => children > 5,
      30_000,
    );
    system.server.kill('SIGKILL');
    await system.server.exitCode;
    await sleep(20_000);
    await system.restart();
    for (const id of ids) {
      const run = await eventually(
        () => system.call<RunMessage>(`/api/v3/runs/${id}`),
        ({ status }) => !['WAITING', 'QUEUED', 'EXECUTING', 'REATTEMPTING'].includes(status),
        60_000,
      );
      expect(run).toMatchObject({
        status: 'COMPLETED',
        attemptCount: 1,
        output: (3 * rounds * (rounds + 1)) / 2,
      });
      expect(await childrenOf(id)).toBe(3 * rounds);
    }
  },
);
