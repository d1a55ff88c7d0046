import { describe, expect, test } from 'vitest';
import type { Wait } from '@millrace/contract/runner';
import { cancelRun } from '../cancel/cancel.ts';
import { reclaimUnheld, rescueRunner } from '../dispatch/rescue.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { ConnectedRunner } from '../../runners/runners.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { createBeginWaits } from './begin.ts';
import { endDueWaits } from './due.ts';
import { notifyMissed } from './resume.ts';

interface Attempt {
  readonly run: string;
  readonly fence: number;
}

function waitsOf(t: TestEngine) {
  const begin = createBeginWaits(t.engine, t.sql, t.dispatch, () => {});
  const env = t.environment.id;
  return {
    begin: (attempt: Attempt, ...waits: Wait[]) =>
      begin({ env, run: attempt.run, fence: attempt.fence, waits }),
    resume: () =>
      t.sql<{ run_id: string; fence: string; keys: string[] }[]>`
        select run_id, fence, keys from resume_runs(${env}, ${new Date(t.engine.clock.now())}, 500)`,
    status: async (run: string) => (await retrieveRun(t.engine, env, run))?.status,
  };
}

async function start(...tasks: Parameters<TestEngine['register']>) {
  const t = await testEngine();
  const version = await t.register(...tasks);
  await t.addRunner('r1');
  const claim = (want = 10) => t.claim('r1', [version.id], want);
  return { t, version, claim, ...waitsOf(t) };
}

const forRun = (target: string): Wait => ({ key: `run/child/1`, kind: 'RUN', target });
const parents = { id: 'parent', queue: { name: 'parents', concurrencyLimit: 1 } };

describe('a run that waits for a run', () => {
  test('is WAITING, releases its slot to the next run of its queue, and gets a slot before runs that have not begun', async () => {
    const { t, claim, begin, resume, status } = await start(parents, 'child');
    const first = await t.trigger('parent');
    const [attempt] = await claim();
    const child = await t.trigger('child');
    expect(await begin(attempt!, forRun(child.id))).toMatchObject({ state: 'suspended', keys: [] });
    expect(await status(first.id)).toBe('WAITING');

    const second = await t.trigger('parent');
    const taken = await claim();
    expect(taken.map((claimed) => claimed.run).toSorted()).toEqual([child.id, second.id].toSorted());
    const third = await t.trigger('parent');
    await t.end(taken.find((claimed) => claimed.run === child.id)!);
    // It may continue, but its slot is in use.
    expect(await status(first.id)).toBe('QUEUED');
    expect([...(await resume())]).toEqual([]);
    await t.end(taken.find((claimed) => claimed.run === second.id)!);
    // The slot is reserved for it, so runs that have not begun do not take it.
    expect(await claim()).toEqual([]);
    expect(await resume()).toMatchObject([
      { run_id: first.id, fence: String(attempt!.fence), keys: ['run/child/1'] },
    ]);
    expect(await status(first.id)).toBe('EXECUTING');
    expect(await claim()).toEqual([]);
    expect((await t.end(attempt!)).stale).toBe(false);
    expect((await claim()).map((claimed) => claimed.run)).toEqual([third.id]);
  });

  test('continues immediately if that run has already ended', async () => {
    const { t, claim, begin, status } = await start('parent', 'child');
    const child = await t.trigger('child');
    await t.end((await claim())[0]!);
    const parent = await t.trigger('parent');
    const [attempt] = await claim();
    expect(await begin(attempt!, forRun(child.id))).toEqual({
      fence: attempt!.fence,
      state: 'running',
      suspension: null,
      keys: ['run/child/1'],
    });
    expect(await status(parent.id)).toBe('EXECUTING');
  });

  for (const [how, end] of [
    [
      'fails',
      (t: TestEngine, attempt: Attempt) =>
        t.end(attempt, { kind: 'failed', status: 'FAILED', error: failure }),
    ],
    [
      'is canceled',
      (t: TestEngine, attempt: Attempt) => cancelRun(t.engine, t.runners, t.environment.id, attempt.run),
    ],
  ] as const) {
    test(`continues when that run ${how}`, async () => {
      const { t, claim, begin, resume } = await start('parent', 'child');
      const { id } = await t.trigger('parent');
      const [attempt] = await claim();
      const child = await t.trigger('child');
      const taken = how === 'fails' ? (await claim())[0]! : { run: child.id, fence: 0 };
      await begin(attempt!, forRun(child.id));
      await end(t, taken);
      expect(await resume()).toMatchObject([{ run_id: id }]);
    });
  }

  test('continues when that run expires', async () => {
    const { t, claim, begin, resume } = await start('parent', 'child');
    const { id } = await t.trigger('parent');
    const [attempt] = await claim();
    const child = await t.trigger('child', { ttl: 10 });
    await begin(attempt!, forRun(child.id));
    t.engine.clock.shift(11_000);
    expect(await t.expire()).toBe(1);
    expect(await resume()).toMatchObject([{ run_id: id }]);
  });

  test('is notified of several waits as they end, and requests the others again', async () => {
    const { t, claim, begin, resume, status } = await start('parent', 'child');
    const { id } = await t.trigger('parent');
    const [attempt] = await claim();
    const children = await Promise.all([t.trigger('child'), t.trigger('child')]);
    const [first, second] = children.map(
      ({ id: target }, n) => ({ key: `run/child/${n}`, kind: 'RUN', target }) as const,
    );
    await begin(attempt!, first!, second!);
    const taken = await claim();
    await t.end(taken.find((child) => child.run === first!.target)!);
    expect(await resume()).toMatchObject([{ run_id: id, keys: [first!.key] }]);
    expect(await begin(attempt!, second!)).toMatchObject({ state: 'suspended' });
    await t.end(taken.find((child) => child.run === second!.target)!);
    expect(await resume()).toMatchObject([{ run_id: id, keys: [second!.key] }]);
    // A wait that ends while the attempt runs is reported when it checks.
    expect(await begin(attempt!, { key: 'time/1', kind: 'TIME', until: 0 })).toMatchObject({
      state: 'running',
      keys: ['time/1'],
    });
    expect(await status(id)).toBe('EXECUTING');
  });
});

test('the runner is notified of a wait that ends while its attempt is being suspended for another wait', async () => {
  const { t, claim, begin, resume } = await start('parent', 'child');
  const { id } = await t.trigger('parent');
  const [attempt] = await claim();
  const children = await Promise.all([1, 2, 3].map(() => t.trigger('child')));
  const [first, second, third] = children.map(
    ({ id: target }, n) => ({ key: `run/child/${n}`, kind: 'RUN', target }) as const,
  );
  await begin(attempt!, first!, second!, third!);
  const taken = await claim();
  await t.end(taken.find((child) => child.run === first!.target)!);
  expect(await resume()).toMatchObject([{ run_id: id, keys: [first!.key] }]);
  await t.sql.begin(async (tx) => {
    // The effect of the third child's end. That child is not checked here.
    await tx`select end_waits(${new Date(t.engine.clock.now())}, ${t.environment.id}, ${third!.target})`;
    expect(await begin(attempt!, second!)).toMatchObject({ state: 'suspended' });
  });
  expect(await resume()).toMatchObject([{ run_id: id, keys: [third!.key] }]);
});

describe('a run that waits for a batch', () => {
  test('continues when all of its runs have ended, in any order', async () => {
    const { t, claim, begin, resume, status } = await start('parent', 'child');
    const { id } = await t.trigger('parent');
    const [attempt] = await claim();
    const env = t.environment.id;
    const batch = 'batch_abcdefghijklmnopqrstu';
    const now = new Date(t.engine.clock.now());
    await t.sql`
      insert into batches (env, id, run_count, received, created_at, sealed_at) values (${env}, ${batch}, 6, 6, ${now}, ${now})`;
    const members: string[] = [];
    for (let n = 0; n < 5; n++) {
      const childId = (await t.trigger('child')).id;
      members.push(`run_abcdefghijklmnopqrstu00${n}`);
      await t.sql`update runs set id = ${members[n]} where id = ${childId}`;
      await t.sql`update queued set run_id = ${members[n]} where run_id = ${childId}`;
    }
    const cached = await t.trigger('child');
    await t.sql`insert into batch_cached (env, item_id, run_id) values (${env}, ${'run_abcdefghijklmnopqrstu005'}, ${cached.id})`;
    members.push(cached.id);
    const wait: Wait = { key: 'batch', kind: 'BATCH', target: batch };
    const live = await claim();
    expect(live.map((claimed) => claimed.run).toSorted()).toEqual(members.toSorted());
    const end = (n: number) => t.end(live.find((claimed) => claimed.run === members[n])!);
    await end(1);
    expect(await begin(attempt!, wait)).toMatchObject({ state: 'suspended' });
    for (const n of [3, 0, 5, 4]) {
      await end(n);
      expect(await status(id)).toBe('WAITING');
    }
    await end(2);
    expect(await resume()).toMatchObject([{ run_id: id, keys: ['batch'] }]);
    expect(await begin(attempt!, { ...wait, key: 'again' })).toMatchObject({
      state: 'running',
      keys: ['again'],
    });
  });
});

describe('a run that waits for a time', () => {
  test('continues at that time, and the wait counts neither as duration nor as an attempt', async () => {
    const { t, claim, begin, resume } = await start('parent');
    const { id } = await t.trigger('parent');
    const [attempt] = await claim();
    await begin(attempt!, { key: 'time/1', kind: 'TIME', until: t.engine.clock.now() + 3_600_000 });
    expect(await endDueWaits(t.engine, 100)).toEqual([]);
    t.engine.clock.shift(3_600_001);
    expect(await endDueWaits(t.engine, 100)).toEqual([t.environment.id]);
    expect(await resume()).toMatchObject([{ run_id: id, keys: ['time/1'] }]);
    await t.end(attempt!);
    const run = await retrieveRun(t.engine, t.environment.id, id);
    expect(run).toMatchObject({ status: 'COMPLETED', attemptCount: 1 });
    expect(run?.durationMs).toBeLessThan(60_000);
  });

  test('waits until the last representable date at most, and not at all for a date before the first', async () => {
    const { t, claim, begin } = await start('parent');
    for (let n = 0; n < 3; n++) await t.trigger('parent');
    const [first, second, third] = await claim();
    const waited = await Promise.all([
      begin(first!, { key: 'time/1', kind: 'TIME', until: 8.64e15 }),
      begin(second!, { key: 'time/1', kind: 'TIME', inMs: 1e300 }),
      begin(third!, { key: 'time/1', kind: 'TIME', until: -8.64e15 }),
    ]);
    expect(waited.map(({ state }) => state)).toEqual(['suspended', 'suspended', 'running']);
  });
});

describe('the loss of the process that executes the code', () => {
  test('leaves the run waiting; later it restarts as the same attempt, and its wait ends immediately', async () => {
    const { t, claim, begin, status } = await start('parent', 'child');
    const { id } = await t.trigger('parent');
    const [attempt] = await claim();
    const child = await t.trigger('child');
    await begin(attempt!, forRun(child.id));
    await rescueRunner(t, 'r1', 'connection of r1');
    expect(await status(id)).toBe('WAITING');
    expect((await t.end(attempt!)).stale).toBe(true);
    expect((await begin(attempt!, forRun(child.id))).state).toBe('stale');

    await t.addRunner('r1');
    const [taken] = await claim();
    expect(taken).toMatchObject({ run: child.id });
    await t.end(taken!);
    expect(await status(id)).toBe('QUEUED');
    const [again] = await claim();
    expect(again).toMatchObject({ run: id, attempt: attempt!.attempt });
    expect(await begin(again!, forRun(child.id))).toMatchObject({ state: 'running', keys: ['run/child/1'] });
    expect((await t.end(again!)).stale).toBe(false);
    const [row] = await t.sql<{ rescues: number }[]>`select rescues from runs where id = ${id}`;
    expect(row?.rescues).toBe(0);
  });

  test('queues ready runs immediately, and ends those with a stop request', async () => {
    const { t, claim, begin, status } = await start('parent', 'child');
    const ready = await t.trigger('parent');
    const stopping = await t.trigger('parent');
    const attempts = await claim();
    await Promise.all(
      attempts.map((each) =>
        begin(each, { key: 'time/1', kind: 'TIME', until: t.engine.clock.now() + 1_000 }),
      ),
    );
    await cancelRun(t.engine, t.runners, t.environment.id, stopping.id);
    expect(await status(stopping.id)).toBe('WAITING');
    t.engine.clock.shift(2_000);
    await endDueWaits(t.engine, 100);
    await rescueRunner(t, 'r1', 'connection of r1');
    expect(await status(stopping.id)).toBe('CANCELED');
    await t.addRunner('r1');
    expect((await claim()).map((claimed) => claimed.run)).toEqual([ready.id]);
  });

  test('is detected when the runner reconnects without the attempt', async () => {
    const { t, claim, begin, status } = await start('parent', 'child');
    const { id } = await t.trigger('parent');
    const [attempt] = await claim();
    const child = await t.trigger('child');
    await begin(attempt!, forRun(child.id));
    await reclaimUnheld(t, 'r1', [attempt!.fence], t.engine.clock.now());
    expect((await t.sql`select from suspended where runner_id = 'r1'`).length).toBe(1);
    await reclaimUnheld(t, 'r1', [], t.engine.clock.now());
    expect((await t.sql`select from suspended where runner_id is null`).length).toBe(1);
    await cancelRun(t.engine, t.runners, t.environment.id, id);
    expect(await status(id)).toBe('CANCELED');
  });
});

test('a runner is notified again of resumed attempts after a missed message, and its suspended attempts take no slots', async () => {
  const { t, claim, begin, resume } = await start('parent');
  await t.trigger('parent');
  const [attempt] = await claim();
  const { run, fence } = attempt!;
  const sent: unknown[] = [];
  const runner = new ConnectedRunner('r1', t.environment.id, 3, new Set(), (message) => sent.push(message));
  runner.leased.set(fence, { env: t.environment.id, run, task: 'parent' });
  expect(runner.free).toBe(2);
  const waited = await begin(attempt!, { key: 'time/1', kind: 'TIME', until: t.engine.clock.now() + 1_000 });
  runner.notifyWaited([waited]);
  expect(runner.free).toBe(3);
  await notifyMissed(t.sql, runner);
  expect(sent).toHaveLength(1);
  t.engine.clock.shift(2_000);
  await endDueWaits(t.engine, 100);
  await resume();
  await notifyMissed(t.sql, runner);
  const { suspension } = waited;
  expect(sent[1]).toEqual({
    type: 'waited',
    attempts: [{ fence, state: 'resumed', suspension, keys: ['time/1'] }],
  });
  expect(runner.free).toBe(2);
  // A report about an older suspension arrives too late.
  runner.notifyWaited([waited]);
  expect(runner.free).toBe(2);
  // The end of a suspension is reported twice, the second time when it is suspended again.
  const next = await begin(attempt!, { key: 'time/2', kind: 'TIME', until: t.engine.clock.now() + 1_000 });
  runner.notifyWaited([next]);
  expect(runner.free).toBe(3);
  runner.notifyWaited([{ fence, state: 'resumed', suspension, keys: ['time/1'] }]);
  expect(runner.free).toBe(3);
  expect([...runner.suspended]).toEqual([[fence, next.suspension]]);
  expect(sent.at(-1)).toEqual({ type: 'waited', attempts: [next] });
  runner.release(fence);
  expect(runner.free).toBe(3);
});

describe('a run that is being resumed', () => {
  /** Its lease is back, as seen by the transaction that returns it; `meanwhile` blocks on that. */
  async function resuming<T>(
    meanwhile: (t: Awaited<ReturnType<typeof start>>, attempt: Attempt, wait: Wait) => Promise<T>,
  ) {
    const started = await start('parent', 'child');
    const { t, claim, begin } = started;
    await t.trigger('parent');
    const [attempt] = await claim();
    const child = await t.trigger('child');
    const [ended] = await claim();
    const wait = forRun(child.id);
    await begin(attempt!, wait);
    await t.end(ended!);
    const { coming } = await t.sql.begin(async (tx) => {
      const at = new Date(t.engine.clock.now());
      const resumed = await tx`select run_id from resume_runs(${t.environment.id}, ${at}, 10)`;
      expect(resumed).toEqual([{ run_id: attempt!.run }]);
      const pending = meanwhile(started, attempt!, wait);
      const waiting = () => tx`select from pg_locks where not granted and locktype = 'transactionid'`;
      await expect.poll(waiting).not.toEqual([]);
      return { coming: pending };
    });
    return coming;
  }

  test('is returned to a runner that requests its waits again', async () => {
    const reply = await resuming(({ begin }, attempt, wait) => begin(attempt, wait));
    expect(reply).toMatchObject({ state: 'running', keys: ['run/child/1'] });
  });

  test('can end', async () => {
    const ended = await resuming(async ({ t, status }, attempt) => {
      expect(await t.end(attempt)).toMatchObject({ stale: false });
      return status(attempt.run);
    });
    expect(ended).toBe('COMPLETED');
  });
});

test('a run can end while it waits', async () => {
  const { t, claim, begin, status } = await start(parents);
  const { id } = await t.trigger('parent');
  const [attempt] = await claim();
  await begin(attempt!, { key: 'time/1', kind: 'TIME', until: t.engine.clock.now() + 1_000 });
  expect((await t.end(attempt!)).stale).toBe(false);
  expect(await status(id)).toBe('COMPLETED');
  expect((await t.sql`select from suspended`).length).toBe(0);
  expect((await t.end(attempt!)).stale).toBe(true);
});

test('runs that wait for an environment slot do not starve behind runs that wait for their queue', async () => {
  const { t, claim, begin, resume } = await start(parents, 'other');
  const first = await t.trigger('parent');
  const [attempt] = await claim();
  await begin(attempt!, { key: 'time/1', kind: 'TIME', until: t.engine.clock.now() + 1_000 });
  await t.trigger('parent');
  const [holder] = await claim();
  t.engine.clock.shift(2_000);
  await endDueWaits(t.engine, 100);
  await t.sql`update environments set concurrency_limit = 2`;
  const other = await t.trigger('other');
  expect([...(await resume())]).toEqual([]);
  expect((await claim()).map((claimed) => claimed.run)).toEqual([other.id]);
  await t.end(holder!);
  expect(await resume()).toMatchObject([{ run_id: first.id }]);
});

const failure = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;
