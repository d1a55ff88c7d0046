import { once } from 'node:events';
import type { BriefAssignment, RunnerMessage, ServerMessage } from '@millrace/contract/runner';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { installation, type Installation } from '../../../../test/access/installation.ts';

type Message<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

/** A runner that does nothing of itself. */
async function connected({ ask, server }: Installation, key: string) {
  const { body } = await ask('POST /runner/v1/versions', {
    key,
    body: { contentHash: 'the content', tasks: [{ id: 'send', filePath: 'tasks.ts' }] },
  });
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
    headers: { authorization: `Bearer ${key}` },
  });
  onTestFinished(() => socket.terminate());
  const heard: ServerMessage[] = [];
  socket.on('message', (data) => heard.push(JSON.parse((data as Buffer).toString()) as ServerMessage));
  await once(socket, 'open');
  const say = (message: RunnerMessage): void => socket.send(JSON.stringify(message));
  const hears = async <T extends ServerMessage['type']>(type: T): Promise<Message<T>> => {
    await expect.poll(() => heard.some((one) => one.type === type), { timeout: 20_000 }).toBe(true);
    return heard.find((one) => one.type === type) as Message<T>;
  };
  say({
    type: 'hello',
    runner: `runner of ${key.slice(0, 12)}`,
    host: 'test',
    pid: 1,
    capacity: 5,
    versions: [body.version],
    held: [],
  });
  await hears('welcome');
  return { say, hears };
}

async function holding(installed: Installation, key: string) {
  const runner = await connected(installed, key);
  await installed.ask('POST /api/v1/tasks/send/trigger', { key, body: {} });
  const [assignment] = (await runner.hears('run')).assignments;
  return { ...runner, assignment: assignment as BriefAssignment };
}

it('a runner has nothing to say about attempts of another environment, whatever it writes into its messages', async () => {
  const installed = await installation();
  const { keys, sql } = installed;
  const { assignment } = await holding(installed, keys.prod);
  const stranger = await connected(installed, keys.stg);
  const [row] = await sql<{ env: number }[]>`select env from leases`;
  const { run, fence } = assignment;
  const wait = { key: 'time/1', kind: 'TIME', until: Date.now() + 3_600_000 } as const;
  const inAttempt = Object.assign({ run, fence, waits: [wait] }, row);
  const inWait = { run, fence, waits: [Object.assign({}, wait, row)] };
  stranger.say({ type: 'wait', attempts: [inAttempt, inWait] });
  const refused = { fence, state: 'stale', spell: null, keys: [] };
  expect((await stranger.hears('waited')).attempts).toEqual([refused, refused]);
  expect(await sql`select run_id from leases`).toEqual([{ run_id: run }]);
  expect(await sql`select from suspended`).toHaveLength(0);
});

it('a runner that was not told of a cancellation hears of it with its next heartbeat', async () => {
  const installed = await installation();
  const { say, hears, assignment } = await holding(installed, installed.keys.prod);
  // As by a process that died before it told anybody.
  await installed.sql`update leases set cancel_requested = true`;
  say({ type: 'heartbeat' });
  expect((await hears('cancel')).fences).toEqual([assignment.fence]);
});
