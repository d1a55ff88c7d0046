import { Worker } from 'node:worker_threads';
import { maxPacketBytes } from '@millrace/contract';
import { messageLimits } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { installation } from '../access/installation.ts';
import { promote } from '../support/promote.ts';
import { minHold, maxHold } from './hold.ts';

/** A runner in another thread. When it has a run, it sends a frame with its values for RUN and FENCE. Posts the messages of the server. */
const runner = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ url, key, version, frame }) => {
  const socket = new WebSocket(url, { headers: { authorization: 'Bearer ' + key } });
  const send = (message) => socket.send(JSON.stringify(message));
  const ended = (reply) => {
    parentPort.postMessage(reply);
    socket.onclose = socket.onmessage = null;
    socket.close(1000);
  };
  socket.onerror = () => {};
  socket.onclose = ({ code, reason }) => ended('closed: ' + reason);
  socket.onopen = () => send({ type: 'hello', runner: 'runner_' + Math.random(), host: 'h', pid: 1, capacity: 1,
    versions: [version], leased: [], knowsLogged: true });
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === 'refused') ended(message.reason);
    if (message.type === 'settled' || message.type === 'logged') ended(message.type);
    if (message.type !== 'run') return;
    const [{ run, fence }] = message.assignments;
    const text = Buffer.from(frame).toString('latin1').replaceAll('RUN', run).replaceAll('"FENCE"', fence);
    socket.send(Buffer.from(text, 'latin1').toString());
  };
});`;

const mib = 1024 * 1024;
const maxBytes = 30 * mib;
const repeated = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length));
const secret = 'correct horse battery staple';

const log = (line: object, count: number): string =>
  `{"type":"log","seq":1,"lines":[${Array.from({ length: count }, () => JSON.stringify({ run: 'RUN', attempt: 1, at: 1, level: 'info', ...line })).join(',')}]}`;
const completion = (outcome: object): string =>
  JSON.stringify({ type: 'settle', settlements: [{ run: 'RUN', fence: 'FENCE', outcome }] });
const output = (text: string): string =>
  completion({ kind: 'completed', output: text, outputType: 'application/json' });
const failed = (error: object): string =>
  completion({
    kind: 'failed',
    status: 'FAILED',
    error: { type: 'BUILT_IN_ERROR', name: 'E', message: 'm', stackTrace: '', ...error },
  });

/** The frames, each with a pattern of its reply. */
const frames: Readonly<Record<string, readonly [reply: RegExp, frame: () => string]>> = {
  brackets: [/levels deep/, () => repeated('[', maxBytes)],
  'brackets in a member': [/levels deep/, () => `{"type":"log","a":${repeated('[', maxBytes)}`],
  '200,000 lines': [/members and items/, () => log({ message: 'm' }, 200_000)],
  'wide properties': [
    /at most 4194304 bytes/,
    () => log({ message: 'm', properties: repeated('{"a":1},', maxBytes / 10) }, 5),
  ],
  'lines as large as they may be': [
    /logged/,
    () =>
      log(
        { message: `${secret} "\n`, properties: JSON.stringify({ a: repeated('x" ', 2_300), secret }) },
        390,
      ),
  ],
  'a long message in each line': [
    /logged/,
    () => log({ message: repeated(`${secret}, `, 60_000) }, Math.floor(messageLimits.logBytes / 61_000)),
  ],
  'an error of 4 MB of quotes': [/settled/, () => failed({ message: repeated('"', 4 * mib) })],
  'an error of 30 MB': [
    /settled/,
    () =>
      failed({
        message: repeated('a1 ', maxBytes / 2),
        stackTrace: repeated('    at f (a.ts:1:1)\n', maxBytes / 2 - mib),
      }),
  ],
  'an output of quotes': [/settled/, () => output(repeated('"', maxPacketBytes))],
  'an output of rows': [
    /settled/,
    () => output(`[${repeated('{"id":1,"name":"name"},', maxPacketBytes - 1_000)}0]`),
  ],
  'an output with secrets': [
    /settled/,
    () => output(JSON.stringify(repeated(`${secret} `, maxPacketBytes - 100))),
  ],
  'an output that is too large': [/settled/, () => output(repeated('x', maxBytes))],
  'a text that is not a message': [
    /type must be/,
    () => JSON.stringify({ type: repeated('€"', maxBytes / 4) }),
  ],
};

test('no frame of a runner holds the event loop for long', { timeout: 600_000 }, async () => {
  const { ask, server, keys, projectRef } = await installation();
  const key = keys.prod;
  const registered = await ask('POST /runner/v1/versions', {
    key,
    body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'send', filePath: 'send.ts' }] },
  });
  await promote(server.url, key);
  await ask(`POST /api/v1/projects/${projectRef}/envvars/prod`, {
    body: { name: 'SECRET', value: secret, isSecret: true },
  });
  const worker = new Worker(runner, { eval: true });
  const url = `${server.url.replace('http', 'ws')}/runner/v1/connect`;
  const version = registered.body.version as string;
  const found: [name: string, hold: number][] = [];
  for (const [name, [reply, frame]] of Object.entries(frames)) {
    const text = Buffer.from(frame());
    // Shared memory, so that this thread need not copy it.
    const shared = new Uint8Array(new SharedArrayBuffer(text.length));
    shared.set(text);
    const hold = await minHold(async () => {
      await ask('POST /api/v1/tasks/send/trigger', { key, body: {} });
      const answered = new Promise((resolve) => worker.once('message', resolve));
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage({ url, key, version, frame: shared });
      expect([name, await answered]).toEqual([name, expect.stringMatching(reply)]);
    });
    found.push([name, hold]);
  }
  await worker.terminate();
  // `ws` joins and unmasks 30 MB in one turn: up to 8 units on a quiet machine, and a busy one slows memory more than the processor.
  expect(found.filter(([, hold]) => hold > 2 * maxHold)).toEqual([]);
});
