import { expect, onTestFinished, test } from 'vitest';
import { startChannels } from '../channels/channels.ts';
import { sessionChannel } from '../channels/key.ts';
import { testEngine } from '../runs/testing/engine.ts';
import { createBeginWaits } from '../runs/waits/begin.ts';
import { createEndMessageWaits } from '../runs/waits/messages.ts';
import { createSession } from './create.ts';
import { createEnsureServed } from './serve.ts';
import { sessionWatcher } from './watch.ts';

const minute = 60_000;

/** Sessions whose messages are appended by a process that dies right afterwards. */
async function sessions() {
  const fixture = await testEngine();
  const { engine, sql, environment, dispatch, database } = fixture;
  const { clock, wakes } = engine;
  const channels = startChannels({ database, sql, clock, wakes });
  onTestFinished(channels.stop);
  const ensureServed = createEnsureServed({ engine, dispatch });
  const endMessageWaits = createEndMessageWaits(engine, () => {});
  const runOf = async (id: string): Promise<string> =>
    (await sql<{ run_id: string }[]>`select run_id from sessions where id = ${id}`)[0]?.run_id ?? '';
  return {
    ...fixture,
    runOf,
    watcher: sessionWatcher(engine, { ensureServed, endMessageWaits }),
    start: (externalId: string) =>
      createSession(
        { engine, dispatch, channels, ensureServed, mint: async () => undefined },
        { kind: 'secretKey', environment } as Parameters<typeof createSession>[1],
        { type: 'chat', externalId, taskIdentifier: 'chat', triggerConfig: { basePayload: {} } },
        () => {},
      ),
    append: (externalId: string, io: 'in' | 'out' = 'in') =>
      channels.append(sessionChannel(environment.id, externalId, io), [{ body: '{"data":"x"}' }], {}),
    endRun: async (id: string) =>
      sql`update runs set status = 'COMPLETED', finished_at = ${new Date(clock.now())} where id = ${await runOf(id)}`,
  };
}

test('a message without a run is found, and one run is started for it', async () => {
  const { engine, start, append, endRun, runOf, watcher } = await sessions();
  const [lost, out, live, early, closed] = await Promise.all(
    ['lost', 'out', 'live', 'early', 'closed'].map((name) => start(name)),
  );
  await append('early');
  engine.clock.shift(10);
  for (const { id } of [lost!, out!, early!, closed!]) await endRun(id);
  engine.clock.shift(10);
  for (const name of ['lost', 'live', 'closed']) await append(name);
  await append('out', 'out');
  await engine.sql`update sessions set closed_at = now() where id = ${closed!.id}`;
  const before = new Map<string, string>();
  for (const { id } of [lost!, out!, live!, early!, closed!]) before.set(id, await runOf(id));
  const changed = async () => {
    const names: (string | null)[] = [];
    for (const { id, externalId } of [lost!, out!, live!, early!, closed!])
      if ((await runOf(id)) !== before.get(id)) names.push(externalId);
    return names;
  };

  // The process that appended it may be about to start a run.
  await watcher.tick();
  expect(await changed()).toEqual([]);
  engine.clock.shift(minute);
  await watcher.tick();
  expect(await changed()).toEqual(['lost']);
  const started = await runOf(lost!.id);
  // A run that leaves the message unread again is not restarted repeatedly.
  await endRun(lost!.id);
  engine.clock.shift(minute);
  await watcher.tick();
  expect(await runOf(lost!.id)).toBe(started);
});

test('a run that waits for a message is resumed even if the process that appended it died', async () => {
  const t = await sessions();
  const { engine, sql, environment, start, append, runOf, watcher } = t;
  const version = await t.register('chat');
  await t.addRunner('r1');
  const { id } = await start('a');
  const [attempt] = await t.claim('r1', [version.id], 1);
  expect(attempt?.run).toBe(await runOf(id));
  const begin = createBeginWaits(engine, sql, t.dispatch, () => {});
  const wait = { key: 'message/a/-1/1', kind: 'MESSAGE', target: id, beyond: -1 } as const;
  await begin({ env: environment.id, run: attempt!.run, fence: attempt!.fence, waits: [wait] });
  await append('a');
  const ready = () => sql`select run_id from suspended where ready_at is not null`;
  expect(await ready()).toHaveLength(0);
  engine.clock.shift(minute);
  await watcher.tick();
  expect(await ready()).toHaveLength(1);
  expect(await runOf(id)).toBe(attempt!.run);
});

test('a run that began to wait before its session existed is resumed when the session has ended', async () => {
  const t = await sessions();
  const { engine, sql, environment, start, watcher } = t;
  const version = await t.register('chat');
  await t.addRunner('r1');
  await t.trigger('chat');
  const [attempt] = await t.claim('r1', [version.id], 1);
  const begin = createBeginWaits(engine, sql, t.dispatch, () => {});
  const wait = { key: 'message/later/-1/1', kind: 'MESSAGE', target: 'later', beyond: -1 } as const;
  await begin({ env: environment.id, run: attempt!.run, fence: attempt!.fence, waits: [wait] });
  const { id } = await start('later');
  const ready = () => sql`select run_id from suspended where ready_at is not null`;
  engine.clock.shift(minute);
  await watcher.tick();
  expect(await ready()).toHaveLength(0);
  await sql`update sessions set expires_at = ${new Date(engine.clock.now())} where id = ${id}`;
  engine.clock.shift(minute);
  await watcher.tick();
  expect(await ready()).toHaveLength(1);
});

test('messages from before an outage of several days are found', async () => {
  const { engine, start, append, endRun, runOf, watcher } = await sessions();
  const { id } = await start('a');
  await endRun(id);
  await append('a');
  const before = await runOf(id);
  engine.clock.shift(9 * 24 * 60 * minute);
  let rounds = 1;
  while (await watcher.tick()) rounds++;
  expect(await runOf(id)).not.toBe(before);
  expect(rounds).toBeGreaterThan(5);
});
