import type { Wait } from '@millrace/contract/runner';
import { expect, onTestFinished, test } from 'vitest';
import { startChannels } from '../../channels/channels.ts';
import { sessionChannel } from '../../channels/key.ts';
import { closeChannels } from '../../channels/open.ts';
import { rescueRunner } from '../dispatch/rescue.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { testEngine } from '../testing/engine.ts';
import { createBeginWaits } from './begin.ts';
import { endDueWaits } from './due.ts';
import { createEndMessageWaits, endMessageWaits, noneToCome } from './messages.ts';

/** A run of a queue with one slot, and a channel for messages to it. */
async function start(sessions: readonly string[] = ['talk'], expiresInMs?: number) {
  const t = await testEngine();
  const { engine, sql, environment } = t;
  const env = environment.id;
  const version = await t.register({ id: 'chat', queue: { name: 'chats', concurrencyLimit: 1 } }, 'free');
  await t.addRunner('r1');
  const channels = startChannels({
    database: t.database,
    sql,
    clock: engine.clock,
    wakes: engine.wakes,
  });
  onTestFinished(channels.stop);
  const keyOf = (session: string) => sessionChannel(env, session, 'in');
  const now = engine.clock.now();
  const expiresAt = expiresInMs === undefined ? null : new Date(now + expiresInMs);
  await channels.open(sessions.map((session) => ({ key: keyOf(session), session: 'session_x', expiresAt })));
  const end = createEndMessageWaits(engine, () => {});
  const begin = createBeginWaits(engine, sql, t.dispatch, () => {});
  const claim = (runner = 'r1') => t.claim(runner, [version.id], 100);
  return {
    ...t,
    channels,
    claim,
    keyOf,
    begin: (attempt: { run: string; fence: number }, ...waits: Wait[]) =>
      begin({ env, run: attempt.run, fence: attempt.fence, waits }),
    /** Appends a message; its effects are returned separately. */
    append: async (session = 'talk', partId?: string) => {
      const { end: next } = await channels.append(keyOf(session), [{ body: '{}' }], { partId });
      return { env, channel: keyOf(session).id, last: next - 1 };
    },
    notify: end,
    /** Closes the channel like the close of its session. */
    close: () =>
      sql.begin(async (tx) => {
        const at = await closeChannels(tx, env, 'session_x', engine.clock.now);
        const none = sessions.map((session) => ({ env, channel: keyOf(session).id, last: noneToCome }));
        return endMessageWaits(tx, at, none);
      }),
    resume: () =>
      sql<{ run_id: string; fence: string; keys: string[] }[]>`
        select run_id, fence, keys from resume_runs(${env}, ${new Date(engine.clock.now())}, 500)`,
    status: async (run: string) => (await retrieveRun(engine, env, run))?.status,
  };
}

const forMessage = (beyond: number, more: Partial<Wait> = {}): Wait => ({
  key: `message/talk/${beyond}/1`,
  kind: 'MESSAGE',
  target: 'talk',
  beyond,
  ...more,
});

test('a run that waits for a message is WAITING and takes no slot until one arrives', async () => {
  const { trigger, claim, begin, append, notify, resume, status, end } = await start();
  const first = await trigger('chat');
  const [attempt] = await claim();
  expect(await begin(attempt!, forMessage(-1))).toMatchObject({ state: 'suspended', keys: [] });
  expect(await status(first.id)).toBe('WAITING');
  await trigger('chat');
  const [second] = await claim();
  expect(second).toBeDefined();
  await notify(await append());
  expect(await status(first.id)).toBe('QUEUED');
  expect([...(await resume())]).toEqual([]);
  await end(second!);
  expect(await resume()).toMatchObject([{ run_id: first.id, keys: ['message/talk/-1/1'] }]);
  expect(await status(first.id)).toBe('EXECUTING');
});

test('a run does not wait for a message that already exists, unless it was consumed or trimmed', async () => {
  const { trigger, claim, begin, append, notify, resume, channels, keyOf } = await start();
  await trigger('chat');
  const [attempt] = await claim();
  await append();
  const { last } = await append();
  expect(last).toBe(1);
  expect(await begin(attempt!, forMessage(0))).toMatchObject({
    state: 'running',
    keys: ['message/talk/0/1'],
  });
  await channels.trim(keyOf('talk'), 2);
  expect(await begin(attempt!, forMessage(0, { key: 'message/talk/0/2' }))).toMatchObject({
    state: 'suspended',
  });
  await notify(await append());
  expect(await resume()).toHaveLength(1);
  expect(await begin(attempt!, forMessage(2))).toMatchObject({ state: 'suspended' });
});

test('a repeated message does not end a wait, and ended waits are eventually deleted', async () => {
  const { trigger, claim, begin, append, notify, resume, sql } = await start();
  await trigger('chat');
  const [attempt] = await claim();
  await begin(attempt!, forMessage(-1));
  await notify(await append('talk', 'part'));
  expect(await resume()).toHaveLength(1);
  await begin(attempt!, forMessage(0));
  await notify(await append('talk', 'part'));
  expect([...(await resume())]).toEqual([]);
  await notify(await append());
  expect(await resume()).toHaveLength(1);
  await begin(attempt!, forMessage(1));
  expect(await sql`select key from waits`).toMatchObject([{ key: 'message/talk/1/1' }]);
});

test('no message is missed, even while the wait begins', async () => {
  const { trigger, claim, begin, append, notify, resume, end } = await start();
  for (let n = -1; n < 150; n++) {
    await trigger('chat');
    const [attempt] = await claim();
    const [waited] = await Promise.all([
      begin(attempt!, forMessage(n)),
      append().then(async (came) => {
        await notify(came);
        return came;
      }),
    ]);
    if (waited.state === 'suspended') expect(await resume(), `message ${n + 1}`).toHaveLength(1);
    await end(attempt!);
  }
});

test('many waits and many appends to the same sessions do not block each other', async () => {
  const sessions = ['a', 'b', 'c', 'd'];
  const { trigger, claim, begin, append, notify, sql } = await start(sessions);
  await Promise.all(Array.from({ length: 40 }, () => trigger('free')));
  const attempts = await claim();
  expect(attempts).toHaveLength(40);
  for (let last = -1; last < 20; last++) {
    const waits = sessions.map((session): Wait => {
      return { key: `message/${session}/${last}`, kind: 'MESSAGE', target: session, beyond: last };
    });
    await Promise.all([
      ...attempts.map((attempt, n) => begin(attempt, ...(n % 2 ? waits : waits.toReversed()))),
      ...sessions.map(async (session) => notify(await append(session))),
    ]);
    expect(await sql`select from waits where over_at is null`).toHaveLength(0);
  }
});

test('a wait for a message times out, and a later message ends the next wait', async () => {
  const { trigger, claim, begin, append, notify, resume, engine } = await start();
  await trigger('chat');
  const [attempt] = await claim();
  await begin(attempt!, forMessage(-1, { inMs: 60_000 }));
  engine.clock.shift(59_000);
  expect(await endDueWaits(engine, 10)).toEqual([]);
  engine.clock.shift(1_500);
  expect(await endDueWaits(engine, 10)).toHaveLength(1);
  expect(await resume()).toMatchObject([{ keys: ['message/talk/-1/1'] }]);
  await notify(await append());
  expect(await begin(attempt!, forMessage(-1, { key: 'message/talk/-1/2' }))).toMatchObject({
    state: 'running',
  });
});

test('a run without a process is queued when its awaited message arrives, under either name of the session', async () => {
  const t = await start();
  const { trigger, claim, begin, append, notify, statusOf, status, sql, environment } = t;
  await sql`
    insert into sessions (env, id, external_id, type, task, trigger_config, created_at, updated_at)
    values (${environment.id}, 'session_1', 'talk', 'x', 'chat', '{}', now(), now())`;
  const { id } = await trigger('chat');
  const [attempt] = await claim();
  await begin(attempt!, forMessage(-1, { target: 'session_1' }));
  await rescueRunner(t, 'r1', 'connection of r1');
  expect(await status(id)).toBe('WAITING');
  await notify(await append());
  expect(await statusOf(id)).toBeNull();
  expect(await sql`select run_id from queued`).toEqual([{ run_id: id }]);
});

test('a close ends the waits for messages, and no wait begins after it', async () => {
  const { trigger, claim, begin, append, close, resume, environment } = await start();
  await trigger('chat');
  const [attempt] = await claim();
  await append();
  expect(await begin(attempt!, forMessage(0))).toMatchObject({ state: 'suspended' });
  expect(await close()).toEqual([environment.id]);
  expect(await resume()).toMatchObject([{ keys: ['message/talk/0/1'] }]);
  const again = forMessage(0, { key: 'message/talk/0/2', inMs: 60_000 });
  expect(await begin(attempt!, again)).toMatchObject({ state: 'running', keys: [again.key] });
});

test('a close also ends the wait of a run without a process', async () => {
  const t = await start();
  const { trigger, claim, begin, close, status, statusOf, sql } = t;
  const { id } = await trigger('chat');
  const [attempt] = await claim();
  await begin(attempt!, forMessage(-1));
  await rescueRunner(t, 'r1', 'connection of r1');
  expect(await status(id)).toBe('WAITING');
  await close();
  expect(await statusOf(id)).toBeNull();
  expect(await sql`select run_id from queued`).toEqual([{ run_id: id }]);
  // Its code runs again and waits as before.
  await t.addRunner('r2');
  const [rerun] = await claim('r2');
  expect(await begin(rerun!, forMessage(-1))).toMatchObject({
    state: 'running',
    keys: ['message/talk/-1/1'],
  });
});

test('a wait for a message ends when the session expires at the latest', async () => {
  const { trigger, claim, begin, resume, engine } = await start(['talk'], 60_000);
  for (const _ of [1, 2, 3]) await trigger('free');
  const attempts = await claim();
  const [endless, long, short] = attempts;
  await begin(endless!, forMessage(-1));
  await begin(long!, forMessage(-1, { inMs: 600_000 }));
  await begin(short!, forMessage(-1, { inMs: 30_000 }));
  engine.clock.shift(31_000);
  expect(await endDueWaits(engine, 10)).toHaveLength(1);
  expect(await resume()).toMatchObject([{ run_id: short!.run }]);
  engine.clock.shift(30_000);
  expect(await endDueWaits(engine, 10)).toHaveLength(1);
  expect((await resume()).map((row) => row.run_id).toSorted()).toEqual([endless!.run, long!.run].toSorted());
  expect(await begin(short!, forMessage(-1, { key: 'message/talk/-1/2' }))).toMatchObject({
    state: 'running',
  });
});
