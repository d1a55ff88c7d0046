import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { RunnerMessage } from '@millrace/contract/runner';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { connect } from '../../packages/server/src/db/connect.ts';
import { descendants } from '../cli/command.ts';
import { startServerProcess } from '../support/server-process/start.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { startSystem, type RunMessage } from './project.ts';

/** The memory of a process in MiB: now (`VmRSS`), or at its peak (`VmHWM`). */
async function memoryOf(pid: number | undefined, what: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024;
}

test(
  'a server that cannot store the lines of a runner stops reading, keeps its lease valid, and stores all of them later',
  { timeout: 90_000 },
  async () => {
    const { connection, drop } = await testDatabase();
    onTestFinished(drop);
    const sql = connect(connection, { name: 'test', max: 2 });
    onTestFinished(() => sql.end());
    const server = await startServerProcess({
      database: connection,
      leaseTimes: { leaseMs: 6_000, heartbeatMs: 500 },
    });
    // It ignores acknowledgments of the server, as a runner of another version or a broken one might.
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${server.secretKey}` },
    });
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    const send = (message: RunnerMessage): void => socket.send(JSON.stringify(message));
    send({ type: 'hello', runner: 'runner_1', host: 'h', pid: 1, capacity: 1, versions: [], leased: [] });
    await once(socket, 'message');
    const heartbeats = setInterval(() => send({ type: 'heartbeat' }), 500);
    onTestFinished(() => clearInterval(heartbeats));
    const before = await memoryOf(server.process.pid, 'VmRSS');

    const frames = 150;
    const lines = Array.from({ length: 16 }, () => ({
      run: 'run_1',
      attempt: 1,
      at: Date.now(),
      level: 'log' as const,
      message: 'x'.repeat(64 * 1_024),
    }));
    await sql.begin(async (tx) => {
      await tx`lock table run_logs in access exclusive mode`;
      for (let frame = 0; frame < frames; frame++) send({ type: 'log', lines });
      // Longer than the lease.
      await new Promise((resolve) => setTimeout(resolve, 8_000));
      expect((await memoryOf(server.process.pid, 'VmRSS')) - before).toBeLessThan(120);
      expect(socket.bufferedAmount).toBeGreaterThan(50_000_000);
      const [runner] = await tx<{ live: boolean }[]>`select expires_at > now() as live from runners`;
      expect(runner).toEqual({ live: true });
    });
    await eventually(
      async () => Number((await sql`select count(*) from run_logs`)[0]?.['count']),
      (count) => count === frames * lines.length,
      40_000,
    );
    expect(socket.readyState).toBe(WebSocket.OPEN);
    expect((await memoryOf(server.process.pid, 'VmHWM')) - before).toBeLessThan(300);
  },
);

const floods = `
import { task } from '@millrace/sdk';
const text = 'x'.repeat(1_000);
export const atOnce = task({ id: 'at-once', run: async () => { for (let n = 0; n < 150_000; n++) console.log(text); } });
export const breathing = task({ id: 'breathing', run: async () => {
  for (let n = 0; n < 150_000; n++) { console.log(text); if (n % 200 === 0) await new Promise(setImmediate); }
} });
export const quick = task({ id: 'quick', run: async () => 'done' });
`;

test(
  'tasks that log endlessly exhaust no memory, other tasks continue, and a line shows the number of missing lines',
  { timeout: 120_000 },
  async () => {
    const system = await startSystem({ MILLRACE_LEASE_SECONDS: '5' }, floods);
    const runner = await system.work();
    const trigger = async (task: string): Promise<string> => {
      const body = { payload: {} };
      return (await system.call<{ id: string }>(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body }))
        .id;
    };
    const show = (id: string) => system.call<RunMessage>(`/api/v3/runs/${id}`);
    // Everything is started before it is measured.
    const warm = await trigger('quick');
    await eventually(
      () => show(warm),
      ({ status }) => status === 'COMPLETED',
      20_000,
    );
    const noisy = [await trigger('at-once'), await trigger('breathing')];
    const quickAt = Date.now();
    const quick = await trigger('quick');
    await eventually(
      () => show(quick),
      ({ status }) => status === 'COMPLETED',
      30_000,
    );
    expect(Date.now() - quickAt).toBeLessThan(20_000);
    const ended = await eventually(
      () => Promise.all(noisy.map(show)),
      (runs) => runs.every(({ status }) => status === 'COMPLETED'),
      60_000,
    );
    // The runner was not considered lost.
    expect(ended.map(({ attemptCount }) => attemptCount)).toEqual([1, 1]);
    expect(system.server.stderr.join('\n')).not.toMatch(/runs\.rescued|runner\.lost/);

    for (const id of noisy) {
      const counted = async (): Promise<number> => {
        let count = 0;
        for (let after: number | undefined = 0; after !== undefined;) {
          const page: { lines: LogShown[]; next?: number } = await system.call(
            `/api/v1/runs/${id}/logs?limit=1000&after=${after}`,
          );
          for (const { properties } of page.lines) count += Number(properties?.['droppedLines'] ?? 1);
          after = page.next;
        }
        return count;
      };
      await eventually(counted, (count) => count === 150_000, 60_000);
    }
    const executors = await descendants(runner.pid);
    for (const pid of [system.server.pid, runner.pid, ...executors]) {
      expect(await memoryOf(pid, 'VmHWM')).toBeLessThan(400);
    }
  },
);

interface LogShown {
  readonly properties?: Readonly<Record<string, unknown>>;
}
