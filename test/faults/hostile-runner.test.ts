import { once } from 'node:events';
import type { ServerMessage } from '@millrace/contract/runner';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startServerProcess } from '../support/server-process/start.ts';
import { testDatabase } from '../support/database.ts';
import { promote } from '../support/promote.ts';

/** Bytes of a hostile frame, near the limit. */
const frameBytes = 30_000_000;
const attempts = 7;

const line = (message: string, properties?: string) => ({
  run: 'run_1',
  attempt: 1,
  at: 1,
  level: 'log',
  message,
  properties,
});

/** JSON text of an object with a very large number of members. */
const wide = (length: number): string =>
  `{${Array.from({ length: Math.floor(length / 12) }, (_, at) => `"a${String(at).padStart(6, '0')}":1`).join(',')}}`;

/** Frames from a sender that tries to block the server. `fences` are the attempts of the sender. */
const hostileFrames: Record<string, (fences: readonly number[]) => string> = {
  'deep lists': () => `{"type":"log","lines":${'['.repeat(frameBytes)}`,
  'deep objects': () => `{"type":"log","lines":[${'{"a":'.repeat(frameBytes / 5)}`,
  'very many values': () => `{"type":"serve","versions":[${'1,'.repeat(frameBytes / 2)}1]}`,
  '200,000 lines': () => JSON.stringify({ type: 'log', lines: Array(200_000).fill(line('x'.repeat(60))) }),
  'wide properties': () => JSON.stringify({ type: 'log', lines: Array(100).fill(line('x', wide(280_000))) }),
  'wide properties within the limits': () =>
    JSON.stringify({ type: 'log', lines: Array(30).fill(line('x', wide(110_000))) }),
  'one text': () => `{"type":"unable","version":"1","why":"${'\\"'.repeat(frameBytes / 2 - 100)}"}`,
  'white space': () => `{"type":"heartbeat"${' '.repeat(frameBytes)}}`,
  'errors of quotes': (fences) =>
    JSON.stringify({
      type: 'settle',
      settlements: fences.map((fence) => ({
        run: 'run_1',
        fence,
        outcome: {
          kind: 'retry',
          delayMs: 0,
          error: { name: 'Error', message: '"'.repeat(2_000_000), stackTrace: '"'.repeat(100_000) },
        },
      })),
    }),
  'many unknown attempts': () =>
    JSON.stringify({
      type: 'settle',
      settlements: Array.from({ length: 20_000 }, (_, fence) => ({ run: 'run_1', fence, outcome: null })),
    }),
};

test(
  'frames designed to block the server delay other requests only slightly, and do not exhaust its memory',
  { timeout: 180_000 },
  async () => {
    const { connection, drop } = await testDatabase();
    onTestFinished(drop);
    const server = await startServerProcess({ database: connection }, ['--max-old-space-size=256']);
    const headers = { authorization: `Bearer ${server.secretKey}`, 'content-type': 'application/json' };
    const call = async (path: string, body?: object): Promise<Record<string, unknown>> => {
      const response = await fetch(server.url + path, {
        headers,
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      expect(response.status).toBeLessThan(300);
      return (await response.json()) as Record<string, unknown>;
    };
    const { version } = await call('/runner/v1/versions', {
      contentHash: 'the content',
      tasks: [{ id: 'send', filePath: 'tasks.ts' }],
    });
    await promote(server.url, server.secretKey);

    let runners = 0;
    const connect = async (capacity: number) => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
        headers,
        perMessageDeflate: false,
      });
      socket.on('error', () => socket.terminate());
      const fences: number[] = [];
      socket.on('message', (data) => {
        const message = JSON.parse((data as Buffer).toString()) as ServerMessage;
        if (message.type === 'run') fences.push(...message.assignments.map(({ fence }) => fence));
      });
      await once(socket, 'open');
      const hello = {
        runner: `runner_${runners++}`,
        host: 'h',
        pid: 1,
        capacity,
        leased: [],
        knowsLogged: true,
      };
      socket.send(JSON.stringify({ type: 'hello', versions: [version], ...hello }));
      await once(socket, 'message');
      return { socket, fences };
    };

    /** The longest duration of requests that are sent in sequence during `meanwhile`. */
    const longest = async (meanwhile: Promise<unknown>): Promise<number> => {
      let isOver = false;
      void meanwhile.finally(() => (isOver = true));
      let max = 0;
      while (!isOver) {
        const began = performance.now();
        await call('/api/v1/runs?limit=1');
        max = Math.max(max, performance.now() - began);
      }
      return max;
    };

    /** The minimum cost of a frame on this machine, which may be slow or busy: reading a text of its size once. */
    const text = JSON.stringify('"'.repeat(frameBytes / 2));
    const began = performance.now();
    JSON.parse(text);
    const unit = performance.now() - began;
    let quiet = 0;
    for (let request = 0; request < 20; request++)
      quiet = Math.max(quiet, await longest(new Promise(setImmediate)));

    const took: Record<string, number> = {};
    for (const [name, frame] of Object.entries(hostileFrames)) {
      const needed = name === 'errors of quotes' ? attempts : 0;
      for (let at = 0; at < needed; at++) await call('/api/v1/tasks/send/trigger', {});
      const { socket, fences } = await connect(needed);
      await expect.poll(() => fences.length, { timeout: 20_000 }).toBe(needed);
      const data = Buffer.from(frame(fences));
      const worked = (async () => {
        for (let times = 0; times < 2 && socket.readyState === WebSocket.OPEN; times++) {
          socket.send(data);
          // A response means that everything before it has been read.
          const pong = once(socket, 'pong');
          socket.ping();
          await Promise.race([pong, once(socket, 'close')]);
        }
      })();
      took[name] = Math.round(await longest(worked));
      socket.terminate();
    }
    expect(server.process.exitCode).toBeNull();
    const slow = Object.entries(took).filter(([, ms]) => ms > 3 * quiet + 10 * unit);
    expect(slow).toEqual([]);
  },
);
