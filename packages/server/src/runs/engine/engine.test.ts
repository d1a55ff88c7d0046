import { describe, expect, test } from 'vitest';
import { cancelRun } from '../cancel/cancel.ts';
import { reclaimUnheld, rescueRunner } from '../dispatch/rescue.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { testEngine } from '../testing/engine.ts';

const failure = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;

describe('a triggered run', () => {
  test('waits in its lane and is assigned to a runner once', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const { id } = await t.trigger('send', {}, { to: 'a' });
    await t.addRunner('r1');
    const [first] = await t.claim('r1', [version.id], 10);
    expect(first).toMatchObject({ run: id, attempt: 1 });
    expect(await t.claim('r1', [version.id], 10)).toEqual([]);
    await t.end(first!);
    const run = await retrieveRun(t.engine, t.environment.id, id);
    expect(run).toMatchObject({
      status: 'COMPLETED',
      isCompleted: true,
      isFailed: false,
      payload: { to: 'a' },
      version: version.version,
      attemptCount: 1,
    });
  });

  test('is not assigned to a runner without its version', async () => {
    const t = await testEngine();
    const old = await t.register('send');
    const locked = await t.trigger('send', { lockToVersion: old.version });
    const current = await t.register('send', 'other');
    const free = await t.trigger('send');
    await t.addRunner('r1');
    expect((await t.claim('r1', [current.id], 10)).map((attempt) => attempt.run)).toEqual([free.id]);
    expect((await t.claim('r1', [old.id], 10)).map((attempt) => attempt.run)).toEqual([locked.id]);
  });

  test('that is locked to a version uses the queue and ttl of that version', async () => {
    const t = await testEngine();
    const old = await t.register({ id: 'send', queue: { name: 'mail' }, ttl: 60 });
    await t.register('other');
    const { id } = await t.trigger('send', { lockToVersion: old.version });
    expect(await retrieveRun(t.engine, t.environment.id, id)).toMatchObject({
      status: 'QUEUED',
      queue: 'mail',
      ttl: '1m',
      version: old.version,
    });
  });

  test('waits as PENDING_VERSION for a version with its task', async () => {
    const t = await testEngine();
    await t.register('send');
    const { id } = await t.trigger('later');
    expect((await retrieveRun(t.engine, t.environment.id, id))?.status).toBe('PENDING_VERSION');
    const next = await t.register('send', 'later');
    expect((await retrieveRun(t.engine, t.environment.id, id))?.status).toBe('QUEUED');
    await t.addRunner('r1');
    expect((await t.claim('r1', [next.id], 10)).map((attempt) => attempt.run)).toEqual([id]);
  });

  test('waits as PENDING_VERSION again when the runner finds that the version lacks its task', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const { id } = await t.trigger('send');
    await t.addRunner('r1');
    const [attempt] = await t.claim('r1', [version.id], 1);
    await t.end(attempt!, { kind: 'unknownTask' });
    expect((await retrieveRun(t.engine, t.environment.id, id))?.status).toBe('PENDING_VERSION');
  });

  test('with a delay starts when due, not earlier', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const { id } = await t.trigger('send', { delay: '1h' });
    await t.addRunner('r1');
    await t.promote();
    expect(await t.claim('r1', [version.id], 1)).toEqual([]);
    expect((await retrieveRun(t.engine, t.environment.id, id))?.status).toBe('DELAYED');
    t.engine.clock.shift(3_600_000);
    await t.promote();
    expect((await t.claim('r1', [version.id], 1)).map((attempt) => attempt.run)).toEqual([id]);
  });

  test('expires if it is not started within its ttl', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const { id } = await t.trigger('send', { ttl: '10m' });
    const lasting = await t.trigger('send');
    const unknown = await t.trigger('unknown', { ttl: 60 });
    t.engine.clock.shift(601_000);
    await t.addRunner('r1');
    expect((await t.claim('r1', [version.id], 10)).map((attempt) => attempt.run)).toEqual([lasting.id]);
    expect(await t.expire()).toBe(2);
    expect(await t.statusOf(id)).toBe('EXPIRED');
    expect(await t.statusOf(unknown.id)).toBe('EXPIRED');
  });

  test('in a development environment expires after ten minutes by default', async () => {
    const t = await testEngine('dev');
    await t.register('send');
    const { id } = await t.trigger('send');
    const lasting = await t.trigger('send', { ttl: 0 });
    t.engine.clock.shift(601_000);
    await t.expire();
    expect(await t.statusOf(id)).toBe('EXPIRED');
    expect(await t.statusOf(lasting.id)).toBe(null);
  });

  test('expires if it was returned before its code began, but not afterwards', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('send');
    await t.addRunner('r');
    const returned = await t.trigger('send', { ttl: '10m', priority: 60 });
    const late = await t.trigger('send', { ttl: '10m', delay: '1m' });
    t.engine.clock.shift(61_000);
    await t.promote();
    const attempts = await t.claim('r', [version], 10);
    expect(attempts.map(({ run }) => run).toSorted()).toEqual([returned.id, late.id].toSorted());
    await Promise.all(attempts.map((attempt) => t.end(attempt, { kind: 'released' })));
    t.engine.clock.shift(540_000);
    expect(await t.expire()).toBe(1);
    expect(await t.statusOf(returned.id)).toBe('EXPIRED');
    const [again] = await t.claim('r', [version], 10);
    expect(again!.run).toBe(late.id);
    // A lost runner may have executed part of it.
    await rescueRunner(t, 'r', 'connection of r');
    t.engine.clock.shift(3_600_000);
    expect(await t.expire()).toBe(0);
  });

  test('with priority overtakes slightly older runs', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const first = await t.trigger('send');
    const urgent = await t.trigger('send', { priority: 10 });
    await t.addRunner('r1');
    expect((await t.claim('r1', [version.id], 2)).map((attempt) => attempt.run).toSorted()).toEqual(
      [first.id, urgent.id].toSorted(),
    );
    const order = await t.sql<{ id: string }[]>`select id from runs order by sort_key`;
    expect(order.map((row) => row.id)).toEqual([urgent.id, first.id]);
  });
});

describe('an idempotency key', () => {
  test('returns the run that it created, even with forty concurrent calls', async () => {
    const t = await testEngine();
    await t.register('send');
    const all = await Promise.all(
      Array.from({ length: 40 }, () => t.trigger('send', { idempotencyKey: 'k' })),
    );
    expect(new Set(all.map((run) => run.id)).size).toBe(1);
    expect(all.filter((run) => !run.isCached)).toHaveLength(1);
    expect(await t.trigger('send', { idempotencyKey: 'k' })).toEqual({ id: all[0]!.id, isCached: true });
    const [{ count }] = (await t.sql`select count(*)::int as count from runs`) as unknown as [
      { count: number },
    ];
    expect(count).toBe(1);
  });

  test('reports which of the calls in one statement created the run', async () => {
    const t = await testEngine();
    await t.register('send');
    // Triggers that arrive during a flush share the next one.
    const all = Promise.all([
      t.trigger('send'),
      ...Array.from({ length: 10 }, () => t.trigger('send', { idempotencyKey: 'k' })),
    ]);
    const [, ...keyed] = await all;
    expect(keyed.map((run) => run.isCached).toSorted((a, b) => Number(a) - Number(b))).toEqual([
      false,
      ...Array(9).fill(true),
    ]);
  });

  test('belongs to its task', async () => {
    const t = await testEngine();
    await t.register('send', 'other');
    const first = await t.trigger('send', { idempotencyKey: 'k' });
    const two = await t.trigger('other', { idempotencyKey: 'k' });
    expect(two).toMatchObject({ isCached: false });
    expect(two.id).not.toBe(first.id);
  });

  test('creates a new run once it has expired or its run has failed', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const short = await t.trigger('send', { idempotencyKey: 'short', idempotencyKeyTTL: '60s' });
    const failing = await t.trigger('send', { idempotencyKey: 'failing' });
    await t.addRunner('r1');
    for (const attempt of await t.claim('r1', [version.id], 10)) {
      await t.end(
        attempt,
        attempt.run === failing.id ? { kind: 'failed', status: 'FAILED', error: failure } : undefined,
      );
    }
    expect(await t.trigger('send', { idempotencyKey: 'short' })).toEqual({ id: short.id, isCached: true });
    expect((await t.trigger('send', { idempotencyKey: 'failing' })).isCached).toBe(false);
    t.engine.clock.shift(61_000);
    expect((await t.trigger('send', { idempotencyKey: 'short' })).isCached).toBe(false);
  });
});

describe('limits', () => {
  test('apply to a queue, to each concurrency key, and to the environment', async () => {
    const t = await testEngine();
    const version = await t.register({ id: 'send', queue: { name: 'mail', concurrencyLimit: 2 } });
    for (const key of ['a', 'a', 'a', 'b', 'b', 'b']) await t.trigger('send', { concurrencyKey: key });
    await t.addRunner('r1');
    const claimed = await t.claim('r1', [version.id], 100);
    expect(claimed).toHaveLength(4);
    expect(await t.claim('r1', [version.id], 100)).toEqual([]);
    await t.end(claimed[0]!);
    expect(await t.claim('r1', [version.id], 100)).toHaveLength(1);
    await t.sql`update environments set concurrency_limit = 4`;
    await t.end(claimed[1]!);
    await t.end(claimed[2]!);
    expect(await t.claim('r1', [version.id], 100)).toHaveLength(1);
  });

  test('are never exceeded by claims that race with completions', { timeout: 60_000 }, async () => {
    const t = await testEngine();
    const version = await t.register({ id: 'send', queue: { name: 'mail', concurrencyLimit: 3 } });
    const total = 120;
    await Promise.all(
      Array.from({ length: total }, (_, i) => t.trigger('send', { concurrencyKey: `k${i % 4}` })),
    );
    let ended = 0;
    const work = async (runner: string): Promise<void> => {
      await t.addRunner(runner);
      while (ended < total) {
        const claimed = await t.claim(runner, [version.id], 5);
        const [row] = await t.sql<{ max: number }[]>`
          select coalesce(max(n), 0)::int as max from (select count(*) as n from leases group by queue_id, key) s`;
        expect(row?.max).toBeLessThanOrEqual(3);
        await Promise.all(claimed.map((attempt) => t.end(attempt).then(() => ended++)));
      }
    };
    await Promise.all(['r1', 'r2', 'r3', 'r4'].map(work));
    const [left] = await t.sql<
      { open: number }[]
    >`select count(*)::int as open from runs where status is null`;
    expect(left?.open).toBe(0);
  });

  test('let a key with one run start alongside a key with hundreds', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    await Promise.all(Array.from({ length: 300 }, () => t.trigger('send', { concurrencyKey: 'whale' })));
    const minnow = await t.trigger('send', { concurrencyKey: 'minnow' });
    await t.addRunner('r1');
    const claimed = [...(await t.claim('r1', [version.id], 10)), ...(await t.claim('r1', [version.id], 10))];
    expect(claimed.map((attempt) => attempt.run)).toContain(minnow.id);
  });

  test('do not lose a slot to an empty lane of another version', async () => {
    const t = await testEngine();
    const old = await t.register('send');
    const current = await t.register('send');
    const versions = [old.id, current.id];
    await t.addRunner('r');
    const done = await t.trigger('send');
    for (const attempt of await t.claim('r', versions, 1)) await t.end(attempt);
    const locked = await t.trigger('send', { lockToVersion: old.version });
    expect((await t.claim('r', versions, 1)).map((attempt) => attempt.run)).toEqual([locked.id]);
    expect(await t.statusOf(done.id)).toBe('COMPLETED');
  });

  test('are not exceeded if a version is listed twice', async () => {
    const t = await testEngine();
    const { id, version } = await t.register('send');
    await t.addRunner('r');
    for (const concurrencyKey of ['a', 'b', 'c'])
      await t.trigger('send', { concurrencyKey, lockToVersion: version });
    expect(await t.claim('r', [id, id], 10)).toHaveLength(3);
    expect(await t.claim('r', [id, id], 2)).toEqual([]);
  });

  test('take the oldest runs of a lane if the capacity is too small for all', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('send');
    await t.addRunner('r');
    const others = await t.trigger('send', { concurrencyKey: 'other' });
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push((await t.trigger('send', { concurrencyKey: 'ada' })).id);
    const claimed = (await t.claim('r', [version], 5)).map((attempt) => attempt.run);
    expect(claimed).toContain(others.id);
    expect(claimed.filter((id) => id !== others.id).toSorted()).toEqual(ids.toSorted().slice(0, 4));
  });

  test('take turns among lanes with the same sort key, with a share for each, and leave the rest', async () => {
    const t = await testEngine();
    const old = await t.register('send');
    const current = await t.register('send');
    const versions = [old.id, current.id];
    await t.addRunner('r');
    await t.sql`update queues set concurrency_override = 3`;
    const created = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        t.trigger('send', { concurrencyKey: 'k', ...(n % 2 === 0 && { lockToVersion: old.version }) }),
      ),
    );
    expect(await t.sql`select from lanes`).toHaveLength(2);
    const claimed: string[] = [];
    for (;;) {
      const attempts = await t.claim('r', versions, 10);
      if (attempts.length === 0) break;
      expect(attempts.length).toBeLessThanOrEqual(3);
      claimed.push(...attempts.map((attempt) => attempt.run));
      for (const attempt of attempts) await t.end(attempt);
    }
    expect(claimed.toSorted()).toEqual(created.map(({ id }) => id).toSorted());
  });

  test('reach every key, regardless of new arrivals', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    await t.addRunner('r1');
    const old = await Promise.all(
      Array.from({ length: 20 }, () => t.trigger('send', { concurrencyKey: 'old' })),
    );
    const left = new Set(old.map(({ id }) => id));
    for (let arrived = 0; left.size > 0;) {
      // As many new keys as the claim takes. A ring that only grew at its end would never be completed.
      await Promise.all(
        Array.from({ length: 10 }, () => t.trigger('send', { concurrencyKey: `new ${arrived++}` })),
      );
      for (const { run } of await t.claim('r1', [version.id], 10)) left.delete(run);
      expect(arrived).toBeLessThan(2_000);
    }
  });

  test('drop a lane with its last run if there are many lanes', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    for (let n = 0; n < 60; n++) await t.trigger('send', { concurrencyKey: `k${n % 20}` });
    await t.addRunner('r1');
    const lanes = async () => (await t.sql`select from lanes`).length;
    const left: number[] = [];
    for (let n = 0; n < 3; n++) {
      expect(await t.claim('r1', [version.id], 20)).toHaveLength(20);
      left.push(await lanes());
    }
    expect(left).toEqual([20, 20, 0]);
  });

  test('drop the lanes of finished keys', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    await Promise.all(Array.from({ length: 200 }, (_, i) => t.trigger('send', { concurrencyKey: `k${i}` })));
    await t.addRunner('r1');
    let taken = 0;
    for (;;) {
      const claimed = await t.claim('r1', [version.id], 50);
      taken += claimed.length;
      if (claimed.length === 0) break;
    }
    expect(taken).toBe(200);
    const [lanes] = await t.sql<{ count: number }[]>`select count(*)::int as count from lanes`;
    expect(lanes?.count).toBeLessThanOrEqual(8);
  });
});

describe('the fence', () => {
  test('rejects a second completion, and the completion of a reclaimed attempt', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    await t.trigger('send');
    await t.addRunner('r1');
    await t.addRunner('r2');
    const [stale] = await t.claim('r1', [version.id], 1);
    await rescueRunner(
      { engine: t.engine, dispatch: t.dispatch, complete: t.complete },
      'r1',
      'connection of r1',
    );
    const [live] = await t.claim('r2', [version.id], 1);
    expect(live!.run).toBe(stale!.run);
    expect(live!.attempt).toBe(1);
    expect((await t.end(stale!, { kind: 'failed', status: 'FAILED', error: failure })).stale).toBe(true);
    expect((await t.end(live!)).kind).toBe('COMPLETED');
    expect((await t.end(live!)).stale).toBe(true);
    expect(await t.statusOf(live!.run)).toBe('COMPLETED');
  });

  test('does not lease runs to a runner that was declared lost', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    await t.trigger('send');
    await t.addRunner('r1');
    await rescueRunner(
      { engine: t.engine, dispatch: t.dispatch, complete: t.complete },
      'r1',
      'connection of r1',
    );
    expect(await t.claim('r1', [version.id], 1)).toEqual([]);
  });

  test('does not reclaim runs from a runner that has reconnected', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    await t.trigger('send');
    await t.addRunner('r1');
    const [attempt] = await t.claim('r1', [version.id], 1);
    await rescueRunner(
      { engine: t.engine, dispatch: t.dispatch, complete: t.complete },
      'r1',
      'an older connection',
    );
    expect((await t.end(attempt!)).stale).toBe(false);
  });

  test('reclaims from a connected runner only attempts that never arrived', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    await t.trigger('send');
    await t.trigger('send');
    await t.addRunner('r1');
    const [got, missed] = await t.claim('r1', [version.id], 2);
    await reclaimUnheld(
      { engine: t.engine, dispatch: t.dispatch, complete: t.complete },
      'r1',
      [got!.fence],
      t.engine.clock.now() + 1,
    );
    expect((await t.end(got!)).stale).toBe(false);
    expect((await t.end(missed!)).stale).toBe(true);
    expect((await t.claim('r1', [version.id], 2)).map((attempt) => attempt.run)).toEqual([missed!.run]);
  });
});

describe('a run that fails', () => {
  test('is retried after its delay, on the version it started on', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const { id } = await t.trigger('send');
    await t.addRunner('r1');
    const [first] = await t.claim('r1', [version.id], 1);
    await t.end(first!, { kind: 'retry', delayMs: 5_000, error: failure });
    expect((await retrieveRun(t.engine, t.environment.id, id))?.status).toBe('EXECUTING');
    const next = await t.register('send', 'other');
    t.engine.clock.shift(5_001);
    await t.promote();
    expect(await t.claim('r1', [next.id], 1)).toEqual([]);
    const [second] = await t.claim('r1', [version.id], 1);
    expect(second).toMatchObject({ run: id, attempt: 2 });
  });

  test('continues on the machine that its attempt requests, if one exists', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const { id } = await t.trigger('send', { machine: 'micro' });
    await t.addRunner('r1');
    const again = async (machine: string) => {
      const [attempt] = await t.claim('r1', [version.id], 1);
      await t.end(attempt!, { kind: 'retry', delayMs: 0, error: failure, machine: machine as never });
      await t.promote();
      return t.sql`select machine from runs where id = ${id}`;
    };
    expect(await again('large-1x')).toEqual([{ machine: 'large-1x' }]);
    expect(await again('abacus')).toEqual([{ machine: 'large-1x' }]);
    expect(await t.claim('r1', [version.id], 1)).toMatchObject([{ run: id, attempt: 3 }]);
    expect(await t.sql`select facet from run_facets where facet like 'machine:%' order by 1`).toEqual([
      { facet: 'machine:large-1x' },
      { facet: 'machine:micro' },
    ]);
  });

  test('is recorded with its error group or not at all', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const { id } = await t.trigger('send');
    await t.addRunner('r1');
    const [attempt] = await t.claim('r1', [version.id], 1);
    await t.end(attempt!, {
      kind: 'failed',
      status: 'FAILED',
      error: { ...failure, message: 'connect ECONNREFUSED 10.0.0.1:5432' },
    });
    const run = await retrieveRun(t.engine, t.environment.id, id);
    expect(run).toMatchObject({ status: 'FAILED', isFailed: true, error: { name: 'Error' } });
    const groups = await t.sql`
      select r.id, f.task, a.n from runs r
        join error_fingerprints f on f.id = r.error_fingerprint_id join error_arrivals a on a.fingerprint_id = f.id`;
    expect([...groups]).toEqual([{ id, task: 'test', n: 1 }]);
  });

  test('ends as CRASHED after its runner was lost repeatedly', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const { id } = await t.trigger('send');
    for (const runner of ['r1', 'r2', 'r3', 'r4']) {
      await t.addRunner(runner);
      expect(await t.claim(runner, [version.id], 1)).toHaveLength(1);
      await rescueRunner(
        { engine: t.engine, dispatch: t.dispatch, complete: t.complete },
        runner,
        `connection of ${runner}`,
      );
    }
    expect(await t.statusOf(id)).toBe('CRASHED');
    const [row] = await t.sql<{ count: number }[]>`select count(*)::int as count from leases`;
    expect(row?.count).toBe(0);
  });
});

describe('cancel', () => {
  test('ends a run in any waiting state, and asks a running one to stop', async () => {
    const t = await testEngine();
    const version = await t.register('send');
    const running = await t.trigger('send');
    await t.addRunner('r1');
    const [attempt] = await t.claim('r1', [version.id], 1);
    const queued = await t.trigger('send');
    const delayed = await t.trigger('send', { delay: '1h' });
    const pending = await t.trigger('unknown');
    for (const { id } of [running, queued, delayed, pending]) {
      expect(await cancelRun(t.engine, t.runners, t.environment.id, id)).toBe(true);
    }
    for (const { id } of [queued, delayed, pending]) expect(await t.statusOf(id)).toBe('CANCELED');
    expect(await t.statusOf(running.id)).toBe(null);
    // It ends as CANCELED even if it fails, requests a retry or completes after the request.
    await t.end(attempt!, { kind: 'retry', delayMs: 0, error: failure });
    expect(await t.statusOf(running.id)).toBe('CANCELED');
    expect(await t.claim('r1', [version.id], 10)).toEqual([]);
    expect(await cancelRun(t.engine, t.runners, t.environment.id, 'run_unknown')).toBe(false);
  });

  test('reaches runs triggered between the cancellation and its arrival in the code', async () => {
    const t = await testEngine();
    const { engine, runners, environment } = t;
    const version = await t.register('send');
    const root = await t.trigger('send');
    await t.addRunner('r1');
    const [attempt] = await t.claim('r1', [version.id], 1);
    await cancelRun(engine, runners, environment.id, root.id);
    const child = await t.trigger('send', { parentRunId: root.id });
    const grandchild = await t.trigger('send', { parentRunId: child.id });
    await t.end(attempt!, { kind: 'canceled' });
    for (const { id } of [root, child, grandchild]) expect(await t.statusOf(id)).toBe('CANCELED');
    await expect(t.trigger('send', { parentRunId: root.id })).rejects.toMatchObject({ status: 422 });
  });

  // PostgreSQL aborts the first transaction that has waited for a second, which on a busy machine may be this one.
  test('retries after a deadlock with a run of the tree that begins to wait', { retry: 3 }, async () => {
    const t = await testEngine();
    const env = t.environment.id;
    const version = await t.register('send');
    const root = await t.trigger('send');
    await t.addRunner('r1');
    await t.claim('r1', [version.id], 1);
    const child = await t.trigger('send', { parentRunId: root.id });
    let cancelled: Promise<boolean> | undefined;
    await t.sql.begin(async (tx) => {
      // In the lock order of waits: the target first, the waiting attempt last.
      await tx`select from runs where env = ${env} and id = ${child.id} for update`;
      cancelled = cancelRun(t.engine, t.runners, env, root.id);
      await expect
        .poll(async () => {
          const [row] = await t.sql`
            select from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%cancel_runs%'`;
          return row !== undefined;
        })
        .toBe(true);
      await tx`select from leases where env = ${env} and run_id = ${root.id} for update`;
    });
    expect(await cancelled).toBe(true);
    expect(await t.statusOf(child.id)).toBe('CANCELED');
    const [lease] =
      await t.sql`select cancel_requested from leases where env = ${env} and run_id = ${root.id}`;
    expect(lease).toEqual({ cancel_requested: true });
  });

  test('reaches descendants', async () => {
    const t = await testEngine();
    await t.register('send');
    const root = await t.trigger('send');
    const child = await t.trigger('send', { parentRunId: root.id });
    const grandchild = await t.trigger('send', { parentRunId: child.id });
    await cancelRun(t.engine, t.runners, t.environment.id, root.id);
    expect(await t.statusOf(grandchild.id)).toBe('CANCELED');
    expect((await retrieveRun(t.engine, t.environment.id, grandchild.id))?.relatedRuns).toMatchObject({
      root: { id: root.id },
      parent: { id: child.id },
    });
  });
});
