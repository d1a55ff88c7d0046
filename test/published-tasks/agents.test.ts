import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong } from '../support/long.ts';
import { publishedProject } from './project.ts';
import { serve, type Served } from './serve.ts';

// oxlint-disable typescript/no-explicit-any -- two minor versions of one package, and the output of their agents

/** The newest version from its folder; in a long run also an older one, and the newest deployed, as projects.test.ts does with one agent. */
const versions = [
  ['4.8', 'dev', '@trigger.dev/sdk'] as const,
  ...(isLong
    ? [['4.5', 'dev', 'published-sdk-4.5'] as const, ['4.8', 'prod', '@trigger.dev/sdk'] as const]
    : []),
];

const tasks = fileURLToPath(new URL('./agents.fixture.ts', import.meta.url));

describe.each(versions)('agents of the published SDK %s in %s', { timeout: 60_000 }, (minor, how, name) => {
  const ends: (() => Promise<void>)[] = [];
  let served: Served;
  let AgentChat: any;
  let sessions: any;

  beforeAll(async () => {
    const onEnd = (end: () => Promise<void>): void => void ends.unshift(end);
    const { dir } = await publishedProject(
      minor,
      { 'trigger/agents.ts': await readFile(tasks, 'utf8') },
      onEnd,
    );
    served = await serve(dir, how, onEnd);
    const sdk = await import(name);
    sdk.configure({ baseURL: served.server.url, accessToken: served.key });
    ({ sessions } = sdk);
    ({ AgentChat } = await import(`${name}/chat`));
  }, 120_000);
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const chatWith = (agent: string, options: object = {}) =>
    new AgentChat({ agent, id: `${agent}-${minor}`, baseURL: served.server.url, ...options });
  const say = async (chat: any, text: string): Promise<string> => (await chat.sendMessage(text)).text();
  const runOf = async (id: string): Promise<any> => (await sessions.retrieve(id)).currentRunId;
  const statusOf = async (run: string): Promise<string> =>
    (await served.server.ask(`/api/v3/runs/${run}`, { key: served.key })).body.status;
  const recordsOf = async (id: string): Promise<any[]> => {
    const path = `/realtime/v1/sessions/${id}/out/records`;
    return (await served.server.ask(path, { key: served.key })).body.records;
  };
  const dataOf = async (id: string): Promise<any[]> => (await recordsOf(id)).map(({ data }) => data ?? {});
  const waiting = (run: string) => served.until(async () => (await statusOf(run)) === 'WAITING');

  test('are discovered, and hold a conversation in one run that releases its slot between turns', async () => {
    expect(served.problems).toEqual([]);
    const chat = chatWith('parrot');
    expect(await say(chat, 'one')).toBe('1: one');
    const run = await runOf(chat.id);
    await waiting(run);
    expect(await say(chat, 'two')).toBe('2: two');
    expect(await say(chat, 'three')).toBe('3: three');
    expect(await runOf(chat.id)).toBe(run);
    await chat.close();
    expect(await served.ended(run)).toMatchObject({ status: 'COMPLETED', attemptCount: 1 });
  });

  test('continue after the end of their runner, in the same run and with their history', async () => {
    const chat = chatWith('parrot', { id: `killed-${minor}` });
    expect(await say(chat, 'one')).toBe('1: one');
    expect(await say(chat, 'two')).toBe('2: two');
    const run = await runOf(chat.id);
    await waiting(run);
    await served.restart();
    expect(await say(chat, 'three')).toBe('3: three');
    expect(await runOf(chat.id)).toBe(run);
    await chat.close();
    expect(await served.ended(run)).toMatchObject({ status: 'COMPLETED', attemptCount: 1 });
  });

  test('resume a conversation in another run when theirs has ended', async () => {
    const chat = chatWith('parrot', { id: `resumed-${minor}` });
    expect(await say(chat, 'one')).toBe('1: one');
    const first = await runOf(chat.id);
    await waiting(first);
    await served.server.ask(`/api/v2/runs/${first}/cancel`, { method: 'POST', key: served.key });
    await served.ended(first);
    expect(await say(chat, 'two')).toBe('2: two');
    const second = await runOf(chat.id);
    expect(second).not.toBe(first);
    await chat.close();
    expect(await served.ended(second)).toMatchObject({ status: 'COMPLETED' });
  });

  test('interrupt their answer, and reply to the next message', async () => {
    const chat = chatWith('slow-parrot');
    const abort = new AbortController();
    let seen = 0;
    for await (const chunk of await chat.sendMessage('go', { abortSignal: abort.signal })) {
      if (chunk.type === 'text-delta' && ++seen === 2) break;
    }
    // The client asks the agent to stop then.
    abort.abort();
    await served.until(async () =>
      (await recordsOf(chat.id)).some(({ headers = [] }) =>
        headers.some(([, value]: string[]) => value === 'turn-complete'),
      ),
    );
    expect(await say(chat, 'short')).toBe('2: short');
    // The whole answer has 200 words.
    const words = (await dataOf(chat.id)).filter(({ delta }) => delta === 'word ');
    expect(words.length).toBeLessThan(150);
    await chat.close();
  });

  test('end when their session is closed', async () => {
    const chat = chatWith('parrot', { id: `closed-${minor}` });
    expect(await say(chat, 'one')).toBe('1: one');
    const run = await runOf(chat.id);
    await waiting(run);
    await sessions.close(chat.id, { reason: 'enough' });
    expect(await served.ended(run)).toMatchObject({ status: 'COMPLETED' });
  });

  test('call tools that wait for other tasks', async () => {
    const chat = chatWith('shop');
    expect(await say(chat, 'price')).toBe('It costs 42.');
    await chat.close();
  });

  test('tasks open sessions, wait for messages and survive the end of their runner', async () => {
    const start = (taskIdentifier: string, externalId: string) =>
      sessions.start({
        type: 'plain',
        externalId,
        taskIdentifier,
        triggerConfig: { basePayload: { externalId } },
      });
    const id = `plain-${minor}`;
    const { runId } = await start('adds', id);
    const handle = sessions.open(id);
    await handle.in.send({ n: 1 });
    await served.until(async () => (await served.metadata(runId, 'sum')) === 1);
    await waiting(runId);
    await served.restart();
    await handle.in.send({ n: 2 });
    await handle.in.send({ n: 39 });
    expect(await served.ended(runId)).toMatchObject({
      status: 'COMPLETED',
      attemptCount: 1,
      output: { sum: 42, late: false, peeked: null },
    });
    expect(await dataOf(id)).toContainEqual({ sum: 42 });
    const { runId: sized } = await start('sizes', `sizes-${minor}`);
    expect(await served.ended(sized)).toMatchObject({ output: [true, true, true, true] });
    const started = await start('listens', `listens-${minor}`);
    const other = sessions.open(`listens-${minor}`);
    await served.until(async () => (await statusOf(started.runId)) === 'EXECUTING');
    await other.in.send({ kind: 'noise' });
    await other.in.send({ kind: 'end' });
    expect(await served.ended(started.runId)).toMatchObject({
      status: 'COMPLETED',
      output: ['noise', 'end'],
    });
  });
});
