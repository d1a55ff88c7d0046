import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startPostgres } from '../../packages/postgres/src/cluster/index.ts';
import { testDatabase } from '../support/database.ts';
import { startServerProcess, type ServerProcess } from '../support/server-process/start.ts';
import { insist } from './insist.ts';
import { numRuns, scale } from '../support/long.ts';

const kills = numRuns(3);

interface Acknowledged {
  readonly seq: number;
  readonly part: string;
}

/** Appends from ten callers until `act` has finished; each request is repeated under its part id until it is acknowledged. */
async function appendThrough(
  server: ServerProcess,
  act: (soon: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { url, secretKey } = server;
  await insist(url, secretKey, '/api/v1/sessions', {
    body: JSON.stringify({
      type: 'chat',
      externalId: 'a',
      taskIdentifier: 'chat',
      triggerConfig: { basePayload: {} },
    }),
  });
  const acknowledged: Acknowledged[] = [];
  let stopped = false;
  const caller = async (name: number): Promise<void> => {
    for (let n = 0; !stopped; n++) {
      const part = `${name}-${n}`;
      const { status, body } = await insist(url, secretKey, '/realtime/v1/sessions/a/out/append', {
        body: part,
        headers: { 'x-part-id': part },
      });
      expect(status).toBe(200);
      acknowledged.push({ part, seq: (body as { seq: number }).seq });
    }
  };
  const callers = Array.from({ length: 10 }, (_, n) => caller(n));
  const soon = async (): Promise<void> => {
    const before = acknowledged.length;
    await expect
      .poll(() => acknowledged.length, { timeout: 30_000, interval: 5 })
      .toBeGreaterThan(before + 30);
    await pause(Math.random() * 50);
  };
  await act(soon).finally(() => (stopped = true));
  await Promise.all(callers);

  const stored = new Map<number, string>();
  for (let after: number | undefined; ;) {
    const query = after === undefined ? '' : `?afterEventId=${after}`;
    const { body } = await insist(url, secretKey, `/realtime/v1/sessions/a/out/records${query}`, {
      method: 'GET',
    });
    const { records } = body as { records: { seqNum: number; data: string; id: string }[] };
    if (records.length === 0) break;
    for (const { seqNum, data, id } of records) {
      expect(id).toBe(data);
      stored.set(seqNum, data);
    }
    after = records.at(-1)?.seqNum;
  }
  // Record numbers are consecutive and unique, and acknowledged records have the acknowledged numbers.
  expect([...stored.keys()]).toEqual(Array.from({ length: stored.size }, (_, n) => n));
  expect(new Set(stored.values()).size).toBe(stored.size);
  for (const { seq, part } of acknowledged) expect(stored.get(seq)).toBe(part);
  expect(stored.size).toBe(acknowledged.length);
}

test(
  'a server killed during appends loses no acknowledged record',
  { timeout: 120_000 * Math.max(1, scale) },
  async () => {
    const { connection, drop } = await testDatabase();
    let server = await startServerProcess({ database: connection });
    onTestFinished(async () => {
      server.process.kill('SIGKILL');
      await drop();
    });
    const { port } = server;
    await appendThrough(server, async (soon) => {
      for (let kill = 0; kill < kills; kill++) {
        await soon();
        server.process.kill('SIGKILL');
        await once(server.process, 'exit');
        server = await startServerProcess({ database: connection, port });
      }
      await soon();
    });
  },
);

test(
  'a PostgreSQL killed during appends loses no acknowledged record',
  { timeout: 120_000 * Math.max(1, scale) },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-sessions-'));
    const postgres = await startPostgres({ dataDir: folder });
    const server = await startServerProcess({ database: postgres.connection });
    onTestFinished(async () => {
      server.process.kill('SIGKILL');
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    });
    const postmaster = async () =>
      Number((await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0]);
    await appendThrough(server, async (soon) => {
      for (let kill = 0; kill < kills; kill++) {
        await soon();
        // A supervisor gives up on a server that exits ten times without staying up for ten seconds.
        if (kill % 8 === 7) await pause(10_500);
        const pid = await postmaster();
        process.kill(pid, 'SIGKILL');
        await expect
          .poll(() => postmaster().catch(() => pid), { timeout: 20_000, interval: 20 })
          .not.toBe(pid);
        await insist(server.url, server.secretKey, '/api/v1/sessions/a', { method: 'GET' });
      }
      await soon();
    });
  },
);
