import { configure, sessions } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { startSystem, type RunMessage } from '../faults/project.ts';
import { eventually } from '../support/eventually.ts';

const tasks = `
import { sessions, task } from '@millrace/sdk';
async function* forever() {
  for (;;) {
    yield 'more';
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
export const chat = task({
  id: 'chat',
  run: async ({ sessionId, continuation }: { sessionId: string; continuation?: boolean }) => {
    const session = sessions.open(sessionId);
    await session.out.append(continuation ? 'again' : 'hello');
    for (let turns = 1; ; turns++) {
      const message = await session.in.wait<{ text: string }>({ timeoutInSeconds: 60 });
      if (!message.ok) return 'nobody spoke';
      const { text } = message.output;
      if (text === 'break') throw new Error('broken');
      if (text === 'go on') await session.out.pipe(forever());
      await session.out.pipe(text.split(' '));
      await session.out.writeControl('turn-complete');
      if (text === 'bye') return turns;
      if (text === 'next') return (await session.endAndContinue('upgrade')).swapped;
    }
  },
});
`;

test('a task continues its session over several runs and loses no message', { timeout: 90_000 }, async () => {
  const system = await startSystem({}, tasks);
  await system.work();
  configure({ baseURL: system.url, secretKey: system.key });
  const { id, runId, publicAccessToken } = await sessions.start({
    type: 'chat',
    externalId: 'talk',
    taskIdentifier: 'chat',
    triggerConfig: { basePayload: {} },
  });
  configure({ baseURL: system.url, accessToken: publicAccessToken });
  const session = sessions.open('talk');
  const chunks: string[] = [];
  let turns = 0;
  const stop = new AbortController();
  const reading = (async () => {
    for await (const chunk of session.out.read<string>({
      signal: stop.signal,
      onControl: () => (turns += 1),
    }))
      chunks.push(chunk);
  })();
  const turn = async (text: string) => {
    const before = turns;
    await session.in.send({ text });
    await expect.poll(() => turns, { timeout: 30_000, interval: 10 }).toBe(before + 1);
  };
  await turn('one two');
  await turn('bye');
  const ended = await eventually(
    () => system.call<RunMessage>(`/api/v3/runs/${runId}`),
    ({ status }) => status === 'COMPLETED',
    30_000,
  );
  expect(ended.output).toBe(2);
  // No run serves the session now: a message starts one, which continues where the last one stopped.
  await turn('three');
  await turn('next');
  await turn('four');
  expect(chunks).toEqual(['hello', 'one', 'two', 'bye', 'again', 'three', 'next', 'again', 'four']);
  const { data } = await system.call<{ data: RunMessage[] }>('/api/v1/runs');
  expect(data).toHaveLength(3);
  stop.abort();
  await reading;
  configure({ baseURL: system.url, secretKey: system.key });
  expect((await sessions.retrieve(id)).currentRunId).toBe(data[0]?.id);

  // Closed while the task answers: the run does not fail.
  configure({ baseURL: system.url, secretKey: system.key });
  const long = await sessions.start({
    type: 'chat',
    externalId: 'long',
    taskIdentifier: 'chat',
    triggerConfig: { basePayload: {} },
  });
  await sessions.open('long').in.send({ text: 'go on' });
  for await (const chunk of sessions.open('long').out.read<string>()) if (chunk === 'more') break;
  await sessions.close('long', { reason: 'enough' });
  const closed = await eventually(
    () => system.call<RunMessage>(`/api/v3/runs/${long.runId}`),
    ({ status }) => status === 'COMPLETED' || status === 'FAILED',
    30_000,
  );
  expect(closed).toMatchObject({
    status: 'COMPLETED',
    output: {
      sessionEnded: expect.stringMatching(/^The session session_\w+ was closed at .*: enough$/) as string,
    },
  });
  await expect(sessions.open('long').out.append('late')).rejects.toMatchObject({
    name: 'SessionClosedError',
    sessionId: long.id,
  });
  expect(await system.call('/api/v1/errors')).toMatchObject({ data: [] });
});

const takers = `
import { sessions, task } from '@millrace/sdk';
const takesOne = (id: string, says: boolean) =>
  task({
    id,
    run: async ({ sessionId }: { sessionId: string }) => {
      const session = sessions.open(sessionId);
      const { text } = await session.in.wait<{ text: string }>().unwrap();
      await session.out.append('took ' + text);
      // Ends when another message exists, and does not read it.
      while (text === 'one' && !(await session.in.peek())) await new Promise((done) => setTimeout(done, 20));
      if (says) await session.out.writeControl('turn-complete');
    },
  });
export const says = takesOne('says', true);
export const forgets = takesOne('forgets', false);
`;

test('an unread message at the end of a run starts exactly one more run', { timeout: 90_000 }, async () => {
  const system = await startSystem({}, takers);
  await system.work();
  configure({ baseURL: system.url, secretKey: system.key });
  const talk = async (task: string): Promise<string[]> => {
    const { id } = await sessions.start({
      type: 'x',
      taskIdentifier: task,
      triggerConfig: { basePayload: {} },
    });
    const session = sessions.open(id);
    const chunks: string[] = [];
    const stop = new AbortController();
    const reading = (async () => {
      for await (const chunk of session.out.read<string>({ signal: stop.signal })) chunks.push(chunk);
    })();
    await session.in.send({ text: 'one' });
    await expect.poll(() => chunks, { timeout: 30_000, interval: 10 }).toEqual(['took one']);
    await session.in.send({ text: 'two' });
    await expect.poll(() => chunks.length, { timeout: 30_000, interval: 10 }).toBe(2);
    await eventually(
      () => system.call<{ data: RunMessage[] }>(`/api/v1/runs?filter[taskIdentifier]=${task}`),
      ({ data }) => data.length === 2 && data.every(({ status }) => status === 'COMPLETED'),
      30_000,
    );
    stop.abort();
    await reading;
    return chunks;
  };
  expect(await talk('says')).toEqual(['took one', 'took two']);
  // A task that completes no turn gets the message again; this would never end if each end of a run started a new one.
  expect(await talk('forgets')).toEqual(['took one', 'took one']);
  const { data } = await system.call<{ data: RunMessage[] }>('/api/v1/runs');
  expect(data).toHaveLength(4);
});
