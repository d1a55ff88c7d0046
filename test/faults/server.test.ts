import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isLong } from '../support/long.ts';
import { eventually } from '../support/eventually.ts';
import { startSystem, type RunMessage, type System } from './project.ts';

/** Triggers 1,000 runs from 32 callers with a kill in between. Returns the acknowledged ids. */
async function triggerThrough(system: System, kill: () => void): Promise<string[]> {
  const acknowledged: string[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < 1_000) {
      const n = next++;
      if (n === 400) kill();
      try {
        const { id } = await system.call<{ id: string }>('/api/v1/tasks/quick/trigger', {
          method: 'POST',
          body: { payload: { n } },
        });
        acknowledged.push(id);
      } catch {
        // Rejected or interrupted: its existence was not acknowledged.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  await Promise.all(Array.from({ length: 32 }, caller));
  return acknowledged;
}

async function allComplete(system: System, ids: readonly string[]): Promise<void> {
  const left = new Set(ids);
  await eventually(
    async () => {
      await Promise.all(
        [...left].slice(0, 200).map(async (id) => {
          const run = await system.call<RunMessage>(`/api/v3/runs/${id}`).catch(() => undefined);
          if (run?.status === 'COMPLETED') left.delete(id);
        }),
      );
      return left.size;
    },
    (count) => count === 0,
    60_000,
  );
}

test(
  'kill -9 of the server during 1,000 triggers: every acknowledged run exists and ends',
  { timeout: 150_000 },
  async () => {
    const system = await startSystem();
    await system.work();
    let killed: Promise<unknown> = Promise.resolve();
    const acknowledged = await triggerThrough(system, () => {
      system.server.kill('SIGKILL');
      killed = system.server.exitCode.then(() => system.restart());
    });
    await killed;
    expect(acknowledged.length).toBeGreaterThan(100);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    await allComplete(system, acknowledged);
  },
);

test.runIf(isLong)(
  'kill -9 of PostgreSQL during 1,000 triggers: every acknowledged run exists and ends',
  { timeout: 150_000 },
  async () => {
    const system = await startSystem();
    await system.work();
    const pidFile = join(system.folder, 'data/postgres/postmaster.pid');
    const postmaster = Number((await readFile(pidFile, 'utf8')).split('\n')[0]);
    const acknowledged = await triggerThrough(system, () => process.kill(postmaster, 'SIGKILL'));
    expect(acknowledged.length).toBeGreaterThan(100);
    await allComplete(system, acknowledged);
    expect(Number((await readFile(pidFile, 'utf8')).split('\n')[0])).not.toBe(postmaster);
  },
);

/** Writes a line every few milliseconds, until it has written all. */
const lines = 400;
const talking = `
import { task } from '@millrace/sdk';
export const talk = task({ id: 'talk', run: async () => {
  for (let n = 0; n < ${lines}; n++) {
    console.log('line ' + n);
    await new Promise((done) => setTimeout(done, 10));
  }
} });
`;

interface LinesShown {
  readonly lines: { message: string }[];
}

test.each(isLong ? ['PostgreSQL', 'the server'] : ['PostgreSQL'])(
  'kill -9 of %s while a run writes: each of its lines is stored once, in order',
  { timeout: 150_000 },
  async (killed) => {
    const system = await startSystem({}, talking);
    await system.work();
    const { id } = await system.call<{ id: string }>('/api/v1/tasks/talk/trigger', {
      method: 'POST',
      body: {},
    });
    const messages = async (): Promise<string[]> => {
      const run = await system.call<LinesShown>(`/api/v1/runs/${id}/logs?limit=1000`).catch(() => undefined);
      return (run?.lines ?? []).map(({ message }) => message);
    };
    await eventually(messages, (found) => found.length > 20, 30_000);
    if (killed === 'PostgreSQL') {
      const pidFile = join(system.folder, 'data/postgres/postmaster.pid');
      process.kill(Number((await readFile(pidFile, 'utf8')).split('\n')[0]), 'SIGKILL');
    } else {
      system.server.kill('SIGKILL');
      await system.server.exitCode;
      await system.restart();
    }
    const all = Array.from({ length: lines }, (_, n) => `line ${n}`);
    const found = await eventually(messages, (some) => some.length >= lines, 60_000);
    expect(found).toEqual(all);
  },
);

/** A task whose runs receive up to 20 payloads, and return them. */
const collecting = `
import { task } from '@millrace/sdk';
export const collect = task({
  id: 'collect',
  batch: { maxSize: 20, maxWait: 0.2 },
  run: async (payloads: number[]) => payloads,
});
`;

test.runIf(isLong)(
  'kill -9 of the server twice while payloads are collected: each payload, even if sent repeatedly, is in exactly one run',
  { timeout: 150_000 },
  async () => {
    const system = await startSystem({}, collecting);
    await system.work();
    const count = 400;
    const runsOf = new Map<number, string>();
    let server = system.server;
    let restarting: Promise<unknown> = Promise.resolve();
    const kill = (): void => {
      const killed = server;
      killed.kill('SIGKILL');
      restarting = killed.exitCode.then(() => system.restart()).then((started) => (server = started));
    };
    let next = 0;
    const caller = async (): Promise<void> => {
      while (next < count) {
        const n = next++;
        if (n === 120 || n === 280) {
          await restarting;
          kill();
        }
        while (!runsOf.has(n)) {
          const options = { idempotencyKey: `payload ${n}`, batchKey: String(n % 3) };
          const body = { payload: n, options };
          await system
            .call<{ id: string }>('/api/v1/tasks/collect/trigger', { method: 'POST', body })
            .then(({ id }) => runsOf.set(n, id))
            // Interrupted before or after it was accepted: it is resent.
            .catch(() => new Promise((resolve) => setTimeout(resolve, 20)));
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, caller));
    await restarting;
    const ids = new Set(runsOf.values());
    await allComplete(system, [...ids]);
    const attempts = new Map<number, string>();
    for (const id of ids) {
      const { output } = await system.call<{ output: number[] }>(`/api/v3/runs/${id}`);
      expect(output.length).toBeLessThanOrEqual(20);
      for (const n of output) {
        expect(attempts.get(n)).toBeUndefined();
        attempts.set(n, id);
      }
    }
    expect(attempts.size).toBe(count);
    for (const [n, id] of runsOf) expect(attempts.get(n)).toBe(id);
    const { data } = await system.call<{ data: unknown[] }>('/api/v1/runs?page[size]=100');
    expect(data.length).toBe(ids.size);
  },
);
