import { once } from 'node:events';
import type { ServerMessage } from '@millrace/contract/runner';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { createLog } from '../logger.ts';
import { startServer } from '../server.ts';
import { changeVariables } from './change.ts';
import { masterKey, startVariableServer } from './testing/variable-server.ts';

type Variables = Extract<ServerMessage, { type: 'welcome' | 'variables' }>;

/** A stand-in for a runner: every set of variables that it received, in order. */
async function listener(url: string, key: string, branch?: string) {
  const received: Variables[] = [];
  const waiting = new Set<() => void>();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/runner/v1/connect`, {
    headers: { authorization: `Bearer ${key}`, ...(branch !== undefined && { 'x-service-branch': branch }) },
  });
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as ServerMessage;
    if (message.type === 'welcome' || message.type === 'variables') received.push(message);
    for (const check of waiting) check();
  });
  await once(socket, 'open');
  const hello = {
    type: 'hello',
    runner: `r${Math.random()}`,
    host: 'h',
    pid: 1,
    capacity: 1,
    versions: [],
    leased: [],
  };
  socket.send(JSON.stringify(hello));
  onTestFinished(() => socket.terminate());
  const until = (suits: (last: Variables) => boolean): Promise<Variables> =>
    new Promise((resolve) => {
      const check = (): void => {
        const last = received.at(-1);
        if (!last || !suits(last)) return;
        waiting.delete(check);
        resolve(last);
      };
      waiting.add(check);
      check();
    });
  await until(() => true);
  return { received, until };
}

test('a runner receives the variables when it connects, and again as soon as they change', async () => {
  const { call, server, key } = await startVariableServer();
  const runner = await listener(server.url, key('prod'));
  expect(runner.received[0]).toMatchObject({ type: 'welcome', variables: {} });
  expect(runner.received[0]).not.toHaveProperty('revision');
  await call('POST', 'envvars/prod', { body: { name: 'A', value: 'secret value', isSecret: true } });
  const expected = { variables: { A: 'secret value' }, revision: 1, secrets: ['A'] };
  expect(await runner.until((last) => last.revision === 1)).toEqual({ type: 'variables', ...expected });
  expect((await listener(server.url, key('prod'))).received[0]).toMatchObject({
    type: 'welcome',
    ...expected,
  });
});

test("a branch's runner receives changes to its own and its parent's variables, and no others", async () => {
  const { call, server, key, pat, addBranch } = await startVariableServer();
  await addBranch('preview', 'x');
  const branch = await listener(server.url, key('preview'), 'x');
  const prod = await listener(server.url, key('prod'));
  await call('POST', 'envvars/preview', { as: pat, body: { name: 'A', value: 'parent' } });
  expect((await branch.until((last) => last.revision === 1)).variables).toEqual({ A: 'parent' });
  await call('POST', 'envvars/preview', { as: pat, branch: 'x', body: { name: 'A', value: 'branch' } });
  expect((await branch.until((last) => last.revision === 2)).variables).toEqual({ A: 'branch' });
  await call('DELETE', 'envvars/preview/A', { as: pat, branch: 'x' });
  expect((await branch.until((last) => last.revision === 3)).variables).toEqual({ A: 'parent' });
  expect(prod.received).toHaveLength(1);
});

test('runners of other server processes receive changes within a second, even without a notification', async () => {
  const { call, server, database, sql, key, ref } = await startVariableServer();
  const log = createLog({ write() {} });
  const second = await startServer({ database, port: 0, masterKey, log });
  onTestFinished(() => second.close());
  const runner = await listener(second.url, key('prod'));
  const began = performance.now();
  await call('POST', 'envvars/prod', { body: { name: 'A', value: '1' } });
  await runner.until((last) => last.revision === 1);
  // A second, plus a margin for a busy machine.
  expect(performance.now() - began).toBeLessThan(3_000);

  const [env] = await sql<{ id: number }[]>`select id from environments where kind = 'prod'`;
  await changeVariables(
    { sql, masterKey, now: Date.now, changed: async () => {} },
    {
      environment: {
        id: env?.id ?? 0,
        publicId: '',
        kind: 'prod',
        branch: null,
        projectId: 0,
        projectRef: ref,
      },
      by: {
        principal: { kind: 'personalAccessToken', credentialId: 'pat_1', userId: 'user_1' },
        origin: { requestId: 'req_1', address: '127.0.0.1', userAgent: undefined },
      },
      isAdmin: true,
      act: 'set',
    },
    () => [{ name: 'A', value: '2', isSecret: false }],
  );
  expect((await runner.until((last) => last.revision === 2)).variables).toEqual({ A: '2' });
  expect(server.url).not.toBe(second.url);
});

test('a burst of changes is pushed only a few times, ending with the last state', async () => {
  const { call, server, key } = await startVariableServer();
  const runner = await listener(server.url, key('prod'));
  const began = performance.now();
  for (let at = 1; at <= 40; at++)
    await call('POST', 'envvars/prod', { body: { name: 'A', value: String(at) } });
  expect((await runner.until((last) => last.revision === 40)).variables).toEqual({ A: '40' });
  // A few at once, then one every 400 ms, because on a busy machine the burst itself takes longer.
  expect(runner.received.length).toBeLessThan(12 + (performance.now() - began) / 400);
});
