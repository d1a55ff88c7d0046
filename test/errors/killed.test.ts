import { once } from 'node:events';
import { WebSocket } from 'ws';
import { expect, onTestFinished, test } from 'vitest';
import type { ServerMessage } from '../../packages/contract/src/runner/index.ts';
import type { Sql } from '../../packages/server/src/db/connect.ts';
import { isLong } from '../support/long.ts';
import { promote } from '../support/promote.ts';
import { killableServers } from '../support/server-process/killable.ts';
import type { ServerProcess } from '../support/server-process/start.ts';

interface Leased {
  readonly run: string;
  readonly fence: number;
}

const failed = `('FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT')`;

/** Tables that the statement that ends a run writes to, from its first write to just before its commit. */
const points = ['leases', 'error_arrivals', 'run_facets', 'notification_endpoints'];
/** A killed server and a lost connection look the same to the database. Short runs kill it only at the first and the last point. */
const serverPoints = points.filter((_, index) => isLong || index % 3 === 0);

test('a kill at any point between the failure and its commit leaves both the ended run and its occurrence, or neither', async () => {
  const { sql, start } = await killableServers(4);
  let server: ServerProcess | undefined;
  let socket: WebSocket | undefined;
  onTestFinished(() => socket?.terminate());
  const post = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const { url, secretKey } = server as ServerProcess;
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}` },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, string>;
  };

  server = await start();
  const { version } = await post('/runner/v1/versions', {
    contentHash: 'content-1',
    tasks: [{ id: 'boom', filePath: 't.ts' }],
  });
  await promote(server.url, server.secretKey);

  /** Each round has its own runner, which holds its runs until the test makes it fail them. */
  let runners = 0;
  const join = (): { readonly leased: Leased[]; fail(): void } => {
    const { url, secretKey } = server as ServerProcess;
    const own = new WebSocket(`${url.replace('http', 'ws')}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${secretKey}` },
    });
    socket = own;
    own.on('error', () => {});
    own.on('open', () =>
      own.send(
        JSON.stringify({
          type: 'hello',
          runner: `runner-${++runners}`,
          host: 'test',
          pid: process.pid,
          capacity: 20,
          versions: [version],
          leased: [],
        }),
      ),
    );
    const leased: Leased[] = [];
    own.on('message', (text) => {
      const message = JSON.parse(String(text)) as ServerMessage;
      if (message.type === 'run') leased.push(...message.assignments);
    });
    return {
      leased,
      fail() {
        const settlements = leased.splice(0).map(({ run, fence }) => ({
          run,
          fence,
          outcome: {
            kind: 'failed',
            status: 'FAILED',
            error: { type: 'BUILT_IN_ERROR', name: 'Error', message: `boom ${run.length}`, stackTrace: '' },
          },
        }));
        own.send(JSON.stringify({ type: 'settle', settlements }));
      },
    };
  };
  const leave = async (): Promise<void> => {
    const gone = socket && socket.readyState !== WebSocket.CLOSED ? once(socket, 'close') : undefined;
    socket?.terminate();
    await gone;
  };

  for (const kill of ['backend', 'server'] as const) {
    for (const point of kill === 'server' ? serverPoints : points) {
      const runner = join();
      for (let n = 0; n < 3; n++) await post('/api/v1/tasks/boom/trigger', {});
      await expect.poll(() => runner.leased.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
      await sql.begin(async (lock) => {
        await lock.unsafe(`lock table ${point} in access exclusive mode`);
        runner.fail();
        const pid = await waitingSettlement(sql);
        if (kill === 'backend') await sql`select pg_terminate_backend(${pid})`;
        else {
          (server as ServerProcess).process.kill('SIGKILL');
          await once((server as ServerProcess).process, 'exit');
        }
      });
      await leave();
      if (kill === 'server') server = await start();
      await expectTogether(sql);
    }
  }

  // A run whose end was not stored runs again and fails permanently this time.
  const runner = join();
  const live = async (): Promise<number> => {
    if (runner.leased.length > 0) runner.fail();
    await expectTogether(sql);
    const [row] = await sql<{ live: number }[]>`select count(*)::int as live from runs where status is null`;
    return row?.live ?? -1;
  };
  await expect.poll(live, { timeout: 30_000, interval: 50 }).toBe(0);
  const { url, secretKey } = server;
  const response = await fetch(`${url}/api/v1/errors`, { headers: { authorization: `Bearer ${secretKey}` } });
  const { data } = (await response.json()) as { data: { count: number }[] };
  expect(data.reduce((sum, group) => sum + group.count, 0)).toBe(3 * (points.length + serverPoints.length));
}, 120_000);

/** The backend process of the statement that waits while it ends runs. */
async function waitingSettlement(sql: Sql): Promise<number> {
  let pid = 0;
  const find = async (): Promise<number> => {
    const [row] = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%complete_attempts(%' and pid <> pg_backend_pid()`;
    pid = row?.pid ?? 0;
    return pid;
  };
  await expect.poll(find, { timeout: 20_000, interval: 20 }).not.toBe(0);
  return pid;
}

/** In one snapshot: exactly the failed runs have a fingerprint, and the counted and pending occurrences are as many. */
async function expectTogether(sql: Sql): Promise<void> {
  const [row] = await sql.unsafe<{ apart: number; runs: number; occurrences: number }[]>(`
    select (select count(*)::int from runs
             where coalesce(status in ${failed}, false) <> (error_fingerprint_id is not null)) as apart,
           (select count(*)::int from runs where status in ${failed}) as runs,
           ((select coalesce(sum(n), 0) from error_arrivals)
            + (select coalesce(sum(total), 0) from error_fingerprints))::int as occurrences`);
  expect(row).toEqual({ apart: 0, runs: row?.occurrences, occurrences: row?.occurrences });
}
