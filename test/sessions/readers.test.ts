import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { startServerProcess } from '../support/server-process/start.ts';
import { insist } from './insist.ts';
import { dataOf, followEvents, sessionServer, type SessionServer } from './session-server.ts';
import { numRuns, scale } from '../support/long.ts';

async function write(server: SessionServer, bodies: readonly string[]): Promise<void> {
  const records = bodies.map((body) => ({ body }));
  const { status } = await server.ask('/realtime/v1/sessions/a/out/records', {
    method: 'POST',
    body: { records },
  });
  if (status !== 200) throw new Error(`status ${status}`);
}

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => JSON.stringify({ data: n + from, id: `${n + from}` }));

describe('a replay', () => {
  test('of 10,000 records takes at most two seconds', async () => {
    const server = await sessionServer();
    await server.start({ externalId: 'a' });
    for (let n = 0; n < 10; n++) await write(server, numbered(1_000, n * 1_000));
    const began = performance.now();
    const reader = await server.follow('a/out');
    const records = await reader.records(10_000);
    expect(records.map(({ seq_num }) => seq_num)).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
    // Two seconds apply to a dedicated machine; this one is shared.
    expect(performance.now() - began).toBeLessThan(6_000);
    await reader.cancel();
  });
});

describe('a reader that does not read', () => {
  test(
    'barely affects other readers and memory, and gets everything when it continues',
    { timeout: 60_000 },
    async () => {
      const server = await sessionServer();
      await server.start({ externalId: 'a' });
      const socket = connect(server.port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      await once(socket, 'connect');
      socket.write(
        `GET /realtime/v1/sessions/a/out HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.keys.prod}\r\n\r\n`,
      );
      await once(socket, 'readable');
      socket.pause();
      const others = await Promise.all(Array.from({ length: 3 }, () => server.follow('a/out')));
      const reading = others.map((other) => other.records(210));
      const body = 'x'.repeat(100_000);
      global.gc?.();
      const before = process.memoryUsage();
      for (let n = 0; n < 210; n++) await write(server, [`${n} ${body}`]);
      for (const records of await Promise.all(reading)) expect(records).toHaveLength(210);
      // A 20 MB buffer for one reader would exceed this, in addition to the memory of the readers in this test.
      const { arrayBuffers } = process.memoryUsage();
      expect(arrayBuffers - before.arrayBuffers).toBeLessThan(96 * 1_048_576);

      let text = '';
      const seen = new Promise<void>((resolve) => {
        socket.on('data', (chunk: Buffer) => {
          text += chunk.toString('latin1');
          if (text.includes('"body":"209 ')) resolve();
        });
      });
      socket.resume();
      await seen;
      const numbers = [...text.matchAll(/"seq_num":(\d+),"timestamp":\d+,"body"/g)].map(([, n]) => Number(n));
      expect(numbers).toEqual(Array.from({ length: 210 }, (_, n) => n));
      for (const other of others) await other.cancel();
    },
  );
});

describe('a rolling restart', () => {
  test('resumes every reader without lost or duplicate records', { timeout: 90_000 }, async () => {
    const { connection, drop } = await testDatabase();
    let [first, second] = await Promise.all([
      startServerProcess({ database: connection }),
      startServerProcess({ database: connection }),
    ]);
    const ports = [first.port, second.port];
    const { secretKey } = first;
    onTestFinished(async () => {
      first.process.kill('SIGKILL');
      second.process.kill('SIGKILL');
      await drop();
    });
    const session = {
      type: 'chat',
      externalId: 'a',
      taskIdentifier: 'chat',
      triggerConfig: { basePayload: {} },
    };
    await insist(first.url, secretKey, '/api/v1/sessions', { body: JSON.stringify(session) });
    const readers = numRuns(100);
    const got = Array.from({ length: readers }, () => [] as number[]);
    let last = Infinity;
    const follow = async (reader: number): Promise<void> => {
      const seen = got[reader] as number[];
      for (let turn = reader; (seen.at(-1) ?? -1) < last; turn++) {
        const headers = {
          authorization: `Bearer ${secretKey}`,
          ...(seen.length > 0 && { 'last-event-id': `${seen.length - 1}` }),
        };
        try {
          const stream = await followEvents(
            `http://127.0.0.1:${ports[turn % 2]}/realtime/v1/sessions/a/out`,
            headers,
          );
          for (;;) {
            const event = await stream.next();
            if (!event) break;
            if (event.event !== 'batch') continue;
            for (const record of (JSON.parse(event.data) as { records: { body: string; seq_num: number }[] })
              .records)
              seen.push(Number(dataOf({ ...record, timestamp: 0 })));
            if ((seen.at(-1) ?? -1) >= last) return await stream.cancel();
          }
        } catch {
          // Disconnected, or not started yet.
        }
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
      }
    };
    const following = Array.from({ length: readers }, (_, reader) => follow(reader));
    let count = 0;
    let stopped = false;
    /** Either server may be down; the part id makes retries harmless. */
    const append = async (body: string): Promise<void> => {
      for (let turn = 0; ; turn++) {
        const sent = await fetch(`http://127.0.0.1:${ports[turn % 2]}/realtime/v1/sessions/a/out/append`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secretKey}`, 'x-part-id': body },
          body,
          signal: AbortSignal.timeout(5_000),
        }).catch(() => undefined);
        if (sent?.status === 200) return;
      }
    };
    const writing = (async () => {
      while (!stopped) {
        await append(String(count++));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    for (const [index, dying] of [first, second].entries()) {
      await new Promise((resolve) => setTimeout(resolve, 700));
      dying.process.kill('SIGTERM');
      const [code] = (await once(dying.process, 'exit')) as [number];
      expect(code).toBe(0);
      const next = await startServerProcess({ database: connection, port: dying.port });
      if (index === 0) first = next;
      else second = next;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    stopped = true;
    await writing;
    // Readers that have all other records wait for this one.
    last = count++;
    await append(String(last));
    await Promise.all(following);
    const expected = Array.from({ length: count }, (_, n) => n);
    for (const seen of got) expect(seen).toEqual(expected);
    // A thousand readers leave two processors little time to write.
    expect(count).toBeGreaterThan(scale > 1 ? 20 : 50);
  });
});
