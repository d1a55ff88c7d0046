import type { Wait } from '@millrace/contract/runner';
import { expect, onTestFinished, test } from 'vitest';
import { startChannels } from '../channels/channels.ts';
import { sessionChannel } from '../channels/key.ts';
import { testEngine } from '../runs/testing/engine.ts';
import { createBeginWaits } from '../runs/waits/begin.ts';
import { createEndMessageWaits } from '../runs/waits/messages.ts';
import { closeSession } from './change.ts';
import { createSession } from './create.ts';
import { findSession } from './find.ts';
import { createEnsureServed } from './serve.ts';

/** Sessions that are closed while their runs are beginning to wait. */
async function sessions() {
  const fixture = await testEngine();
  const { engine, sql, environment, dispatch, database } = fixture;
  const env = environment.id;
  const { clock, wakes } = engine;
  const version = await fixture.register({ id: 'chat', queue: { name: 'chats', concurrencyLimit: 1_000 } });
  await fixture.addRunner('r1');
  const channels = startChannels({ database, sql, clock, wakes });
  onTestFinished(channels.stop);
  const ensureServed = createEnsureServed({ engine, dispatch });
  const begin = createBeginWaits(engine, sql, dispatch, () => {});
  const end = createEndMessageWaits(engine, () => {});
  const resumed: number[] = [];
  return {
    ...fixture,
    resumed,
    /** The attempt of the run that serves a new session. */
    async start(externalId: string) {
      await createSession(
        { engine, dispatch, channels, ensureServed, mint: async () => undefined },
        { kind: 'secretKey', environment } as Parameters<typeof createSession>[1],
        { type: 'chat', externalId, taskIdentifier: 'chat', triggerConfig: { basePayload: {} } },
        () => {},
      );
      const [attempt] = await fixture.claim('r1', [version.id], 1);
      return attempt!;
    },
    begin: ({ run, fence }: { run: string; fence: number }, ...targets: string[]) => {
      const waits = targets.map((target): Wait => ({ key: target, kind: 'MESSAGE', target, beyond: -1 }));
      return begin({ env, run, fence, waits });
    },
    async append(session: string) {
      const key = sessionChannel(env, session, 'in');
      const appended = await channels.append(key, [{ body: '{"data":"x"}' }], {}).catch(() => undefined);
      if (appended) await end({ env, channel: key.id, last: appended.end - 1 });
      return appended;
    },
    async close(session: string) {
      const row = await findSession(sql, env, session);
      return closeSession({ engine, dispatch, resume: (of) => void resumed.push(of) }, row!, null);
    },
    ready: async (run: string) =>
      (await sql`select from suspended where run_id = ${run} and ready_at is not null`).length === 1,
  };
}

test('a close ends a wait, in any race with its beginning, appends and another close', async () => {
  const { start, begin, append, close, ready, sql } = await sessions();
  for (let n = 0; n < 60; n++) {
    const name = `talk-${n}`;
    const attempt = await start(name);
    const [waited] = await Promise.all([
      begin(attempt, name),
      close(name),
      ...(n % 2 ? [append(name), close(name)] : []),
    ]);
    if (waited.state === 'suspended') expect(await ready(attempt.run), name).toBe(true);
  }
  expect(await sql`select from waits where over_at is null`).toHaveLength(0);
});

test('closes, appends and many waits of several sessions do not deadlock', async () => {
  const { start, begin, append, close, sql } = await sessions();
  for (let round = 0; round < 8; round++) {
    const names = ['a', 'b', 'c', 'd'].map((name) => `${name}-${round}`);
    const attempts: Awaited<ReturnType<typeof start>>[] = [];
    for (const name of names) attempts.push(await start(name));
    await Promise.all([
      ...attempts.map((attempt, n) => begin(attempt, ...(n % 2 ? names : names.toReversed()))),
      ...names.map((name) => append(name)),
      ...names.toReversed().map((name) => close(name)),
    ]);
  }
  expect(await sql`select from waits where over_at is null`).toHaveLength(0);
  expect(await sql`select from sessions where closed_at is null`).toHaveLength(0);
});

test('a close announces resumable runs once, and only if a run waits', async () => {
  const { start, begin, close, resumed, environment } = await sessions();
  await start('idle');
  await close('idle');
  expect(resumed).toEqual([]);
  await begin(await start('talk'), 'talk');
  await close('talk');
  await close('talk');
  expect(resumed).toEqual([environment.id]);
});

test('a close that is rolled back ends no wait', async () => {
  const { start, begin, close, ready, sql } = await sessions();
  const attempt = await start('talk');
  await begin(attempt, 'talk');
  await sql`alter table waits add constraint none_ends check (over_at is null)`;
  await expect(close('talk')).rejects.toThrow(/none_ends/);
  expect(await sql`select from channels where closed_at is not null`).toHaveLength(0);
  await sql`alter table waits drop constraint none_ends`;
  await close('talk');
  expect(await ready(attempt.run)).toBe(true);
});
