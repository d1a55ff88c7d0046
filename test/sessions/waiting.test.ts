import { expect, test } from 'vitest';
import { startSystem, type RunMessage, type System } from '../faults/project.ts';
import { eventually } from '../support/eventually.ts';

const tasks = `
import { SessionClosedError, sessions, task } from '@millrace/sdk';
export const talk = task({
  id: 'talk',
  run: async ({ sessionId }: { sessionId: string }) => {
    const session = sessions.open(sessionId);
    await session.out.append('began');
    for (;;) {
      const { text } = await session.in.wait<{ text: string }>().unwrap();
      await session.out.append(text);
      await session.out.writeControl('turn-complete');
      if (text === 'bye') return 'done';
    }
  },
});
export const patient = task({
  id: 'patient',
  run: async ({ sessionId }: { sessionId: string }) => {
    const session = sessions.open(sessionId);
    const late = await session.in.wait({ timeoutInSeconds: 1 });
    const again = await session.in.wait({ timeoutInSeconds: 1 });
    await session.out.append('waited');
    const both = await Promise.all([session.in.wait<number>().unwrap(), session.in.wait<number>().unwrap()]);
    const peeked = await session.in.peek();
    return [late.ok, !late.ok && late.error.name, again.ok, both.toSorted(), peeked === undefined];
  },
});
const outcome = async (wait: () => PromiseLike<{ ok: boolean; output?: unknown; error?: Error }>) => {
  const { ok, output, error } = await wait();
  return ok ? output : [error?.name, error instanceof SessionClosedError, error?.message];
};
export const faithful = task({
  id: 'faithful',
  run: async ({ sessionId, other }: { sessionId: string; other?: string }) => {
    const session = sessions.open(sessionId);
    const seen: unknown[] = [];
    for (;;) {
      const one = await outcome(() => session.in.wait());
      seen.push(one);
      if (Array.isArray(one)) break;
    }
    // Waits end immediately, with and without a timeout.
    const again = await outcome(() => session.in.wait({ timeoutInSeconds: 600 }));
    const thrown = await session.in.wait().unwrap().catch((error: Error) => error.name);
    if (other === undefined) return { seen, again, thrown };
    const closed = sessions.open(other);
    return { seen, left: await outcome(() => closed.in.wait()), last: await outcome(() => closed.in.wait()) };
  },
});
export const two = task({
  id: 'two',
  run: async ({ sessionId }: { sessionId: string }) => {
    const session = sessions.open(sessionId);
    const one = async () => session.out.append(await session.in.wait<string>({ timeoutInSeconds: 600 }).unwrap());
    return Promise.all([one(), one()]);
  },
});
`;

interface Started {
  readonly id: string;
  readonly runId: string;
}

const startSession = (
  system: System,
  task: string,
  externalId: string,
  { basePayload = {}, ...more }: { basePayload?: object; expiresAt?: number } = {},
): Promise<Started> =>
  system.call('/api/v1/sessions', {
    method: 'POST',
    body: { type: 'x', externalId, taskIdentifier: task, triggerConfig: { basePayload }, ...more },
  });
const closeSession = (system: System, session: string) =>
  system.call(`/api/v1/sessions/${session}/close`, { method: 'POST', body: { reason: 'enough' } });
const send = (system: System, session: string, message: unknown) =>
  system.call(`/realtime/v1/sessions/${session}/in/append`, { method: 'POST', body: message });
const outputOf = async (system: System, session: string): Promise<unknown[]> => {
  const path = `/realtime/v1/sessions/${session}/out/records`;
  const { records } = await system.call<{ records: { data: unknown }[] }>(path);
  return records.map(({ data }) => data).filter((data) => typeof data === 'string' && data !== '');
};
const statusBecomes = (system: System, run: string, status: string): Promise<RunMessage> =>
  eventually(
    () => system.call<RunMessage>(`/api/v3/runs/${run}`).catch(() => undefined),
    (seen) => seen?.status === status,
    30_000,
  ) as Promise<RunMessage>;
const says = (system: System, session: string, ...texts: readonly string[]): Promise<unknown[]> =>
  eventually(
    () => outputOf(system, session).catch(() => []),
    (seen) => JSON.stringify(seen) === JSON.stringify(texts),
    30_000,
  );

test(
  'conversations that wait for a message occupy no slot, and continue after the server is killed',
  { timeout: 120_000 },
  async () => {
    const system = await startSystem({}, tasks);
    await system.work({ concurrency: 1 });
    const names = Array.from({ length: 12 }, (_, n) => `talk-${n}`);
    const started = await Promise.all(names.map((name) => startSession(system, 'talk', name)));
    for (const { runId } of started) await statusBecomes(system, runId, 'WAITING');
    const reason = await system.call(`/api/v1/runs/${started[0]!.runId}/reason`);
    expect(reason).toMatchObject({ reason: 'waiting_on_message', status: 'WAITING' });
    await Promise.all(names.map((name) => send(system, name, { text: 'one' })));
    for (const name of names) await says(system, name, 'began', 'one');
    for (const { runId } of started) await statusBecomes(system, runId, 'WAITING');

    system.server.kill('SIGKILL');
    await system.server.exitCode;
    await system.restart();
    await Promise.all(names.map((name) => send(system, name, { text: 'bye' })));
    for (const name of names) await says(system, name, 'began', 'one', 'bye');
    for (const { runId } of started) {
      expect(await statusBecomes(system, runId, 'COMPLETED')).toMatchObject({ attemptCount: 1 });
    }
    expect((await system.call<{ data: unknown[] }>('/api/v1/runs')).data).toHaveLength(names.length);
  },
);

test(
  'the same run continues a conversation whose runner was killed while it waited',
  { timeout: 120_000 },
  async () => {
    const system = await startSystem({}, tasks);
    const runner = await system.work();
    const { runId } = await startSession(system, 'talk', 'a');
    await says(system, 'a', 'began');
    await send(system, 'a', { text: 'one' });
    await says(system, 'a', 'began', 'one');
    await statusBecomes(system, runId, 'WAITING');
    runner.kill('SIGKILL');
    await runner.exitCode;
    await system.work();
    await send(system, 'a', { text: 'bye' });
    await says(system, 'a', 'began', 'one', 'began', 'bye');
    expect(await statusBecomes(system, runId, 'COMPLETED')).toMatchObject({ attemptCount: 1 });
    expect((await system.call<{ data: unknown[] }>('/api/v1/runs')).data).toHaveLength(1);
  },
);

test('waits for messages time out, and several waits share the messages', { timeout: 120_000 }, async () => {
  const system = await startSystem({}, tasks);
  await system.work();
  const { id, runId } = await startSession(system, 'patient', 'b');
  await says(system, 'b', 'waited');
  await statusBecomes(system, runId, 'WAITING');
  await send(system, id, 1);
  await send(system, 'b', 2);
  const { output } = await statusBecomes(system, runId, 'COMPLETED');
  expect(output).toEqual([false, 'SessionTimeoutError', false, [1, 2], true]);
});

const closed = (session: string): unknown => [
  'SessionClosedError',
  true,
  expect.stringMatching(new RegExp(`^The session ${session} was closed at .*: enough$`)) as string,
];

test(
  'a wait ends when its session closes or expires, after the earlier messages',
  { timeout: 120_000 },
  async () => {
    const system = await startSystem({}, tasks);
    await system.work();
    const start = (name: string, more?: Parameters<typeof startSession>[3]) =>
      startSession(system, 'faithful', name, more);
    const idle = await start('idle');
    const busy = await start('busy', { basePayload: { other: 'left' } });
    const expiring = await start('expiring', { expiresAt: Date.now() + 10_000 });
    await startSession(system, 'unknown', 'left');
    await send(system, 'left', 'still here');
    await closeSession(system, 'left');
    for (const { runId } of [idle, busy, expiring]) await statusBecomes(system, runId, 'WAITING');
    await closeSession(system, idle.id);
    await send(system, 'busy', 'last words');
    await closeSession(system, 'busy');

    const ended = async ({ runId }: Started) => (await statusBecomes(system, runId, 'COMPLETED')).output;
    const is = closed(idle.id);
    expect(await ended(idle)).toEqual({ seen: [is], again: is, thrown: 'SessionClosedError' });
    expect(await ended(busy)).toEqual({
      seen: ['last words', closed(busy.id)],
      left: 'still here',
      last: closed('left'),
    });
    const expired = [
      'SessionClosedError',
      true,
      expect.stringMatching(/^The session session_\w+ has expired at /),
    ];
    expect(await ended(expiring)).toEqual({ seen: [expired], again: expired, thrown: 'SessionClosedError' });
  },
);

test(
  'a close reaches code that restarts after the loss of its process, even if the server is killed in between',
  { timeout: 120_000 },
  async () => {
    const system = await startSystem({}, tasks);
    const ended = async (run: string) => {
      const { output, attemptCount } = await statusBecomes(system, run, 'COMPLETED');
      return [(output as { seen: unknown[] }).seen, attemptCount];
    };
    const runner = await system.work();
    const lost = await startSession(system, 'faithful', 'lost');
    await statusBecomes(system, lost.runId, 'WAITING');
    runner.kill('SIGKILL');
    await runner.exitCode;
    await closeSession(system, 'lost');
    await system.work();
    expect(await ended(lost.runId)).toEqual([[closed(lost.id)], 1]);

    const cut = await startSession(system, 'faithful', 'cut');
    await statusBecomes(system, cut.runId, 'WAITING');
    const closing = closeSession(system, 'cut').catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    system.server.kill('SIGKILL');
    await system.server.exitCode;
    await system.restart();
    // It may have died before it closed the session.
    if (!(await closing)) await closeSession(system, 'cut');
    expect(await ended(cut.runId)).toEqual([[closed(cut.id)], 1]);
  },
);

test(
  'two waits with a timeout get one message each, at any interval between the messages',
  { timeout: 120_000 },
  async () => {
    const system = await startSystem({}, tasks);
    await system.work();
    const { runId } = await startSession(system, 'two', 'c');
    await statusBecomes(system, runId, 'WAITING');
    await send(system, 'c', 'one');
    await says(system, 'c', 'one');
    await statusBecomes(system, runId, 'WAITING');
    await send(system, 'c', 'two');
    expect((await statusBecomes(system, runId, 'COMPLETED')).output).toHaveLength(2);
    expect(await outputOf(system, 'c')).toEqual(['one', 'two']);
  },
);
