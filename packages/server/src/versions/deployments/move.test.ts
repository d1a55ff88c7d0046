import { describe, expect, test } from 'vitest';
import { rescueRunner } from '../../runs/dispatch/rescue.ts';
import { retrieveRun } from '../../runs/retrieve/retrieve.ts';
import { createBeginWaits } from '../../runs/waits/begin.ts';
import { endDueWaits } from '../../runs/waits/due.ts';
import { bundleOf } from './testing/bundle.ts';
import { testDeployments, type TestDeployments } from './testing/deployments.ts';

const problem = (status: number, message: RegExp) => ({
  status,
  message: expect.stringMatching(message) as string,
});
const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: 'Error: no' } as const;

/** Two versions with the tasks `send` and `other`, and a runner. */
async function twoVersions() {
  const t = await testDeployments();
  const from = await t.register('send', 'other');
  const to = await t.register('send', 'other');
  await t.addRunner('r1');
  return { t, from, to, locked: { lockToVersion: from.version } };
}

const versionOf = async (t: TestDeployments, run: string) =>
  (await retrieveRun(t.engine, t.environment.id, run))?.version;

/** One run of a version for each kind of wait, and one that executes. */
async function allKinds() {
  const versions = await twoVersions();
  const { t, from, locked } = versions;
  const env = t.environment.id;
  const begin = createBeginWaits(t.engine, t.sql, t.dispatch, () => {});
  const start = async (task = 'send') => {
    const { id } = await t.trigger(task, locked);
    const attempts = await t.claim('r1', [from.id], 10);
    expect(attempts.map(({ run }) => run)).toEqual([id]);
    return attempts[0]!;
  };
  const waiting = await start();
  await begin({ env, ...waiting, waits: [{ key: 'time/1', kind: 'TIME', inMs: 90_000 }] });
  await t.sql`update runners set expires_at = ${new Date(t.engine.clock.now() - 1)}`;
  await rescueRunner(t, 'r1');
  await t.addRunner('r1');
  const retrying = await start();
  await t.end(retrying, { kind: 'retry', error, delayMs: 60_000 });
  const pending = await start('other');
  await t.end(pending, { kind: 'unknownTask' });
  const attached = await start();
  await begin({ env, ...attached, waits: [{ key: 'time/1', kind: 'TIME', inMs: 90_000 }] });
  const executing = await start();
  const delayed = await t.trigger('send', { ...locked, delay: '1m' });
  const queued = await t.trigger('send', { ...locked, concurrencyKey: 'a', ttl: 3_600 });
  const runs = {
    DELAYED: delayed.id,
    PENDING_VERSION: pending.run,
    QUEUED: queued.id,
    RETRYING: retrying.run,
    WAITING: waiting.run,
  };
  return { ...versions, runs, stay: [executing.run, attached.run], executing };
}

describe('moving the runs of a version', () => {
  test('binds waiting runs to the other version, where they start, and leaves live attempts', async () => {
    const { t, from, to, runs, stay, executing } = await allKinds();
    const free = await t.trigger('send');
    const plan = await t.move(from.version, to.version, { dryRun: true });
    expect(plan).toEqual({
      from: from.version,
      to: to.version,
      waiting: [
        { task: 'other', status: 'PENDING_VERSION', count: 1 },
        ...['DELAYED', 'QUEUED', 'RETRYING', 'WAITING'].map((status) => ({ task: 'send', status, count: 1 })),
      ],
      missingTasks: [],
      staying: 2,
      moved: 0,
      isComplete: false,
    });
    expect(t.acts).toEqual([]);
    for (const id of Object.values(runs)) expect(await versionOf(t, id)).toBe(from.version);

    expect(await t.move(from.version, to.version)).toMatchObject({ moved: 5, isComplete: true });
    expect(t.acts).toEqual([`version.runsMoved ${from.version}`]);
    for (const id of Object.values(runs)) expect(await versionOf(t, id)).toBe(to.version);
    for (const id of stay) expect(await versionOf(t, id)).toBe(from.version);
    expect(await versionOf(t, free.id)).toBeUndefined();
    // Lists by version find them.
    expect(
      await t.sql`select from run_facets where env = ${t.environment.id} and facet = ${`version:${to.id}`}`,
    ).not.toEqual([]);
    // No runs of the old version are left, so no runner needs to load it.
    expect(await t.sql`select from lanes where pinned_version = ${from.id}`).toEqual([]);
    expect(
      await t.sql`select expires_at is null as forever from queued where run_id = ${runs.QUEUED}`,
    ).toEqual([{ forever: false }]);
    expect(await t.move(from.version, to.version)).toMatchObject({ waiting: [], moved: 0, isComplete: true });

    // They start there: queued runs immediately, the others when they are due.
    expect(await t.claim('r1', [from.id], 10)).toEqual([]);
    t.engine.clock.shift(100_000);
    await t.sql`update runners set expires_at = ${new Date(t.engine.clock.now() + 30_000)}`;
    await t.promote();
    await endDueWaits(t.engine, 100);
    const started = await t.claim('r1', [to.id], 10);
    expect(started.map(({ run }) => run).toSorted()).toEqual([...Object.values(runs), free.id].toSorted());
    const leases = await t.sql<
      { run_id: string; version_id: number }[]
    >`select run_id, version_id from leases`;
    for (const { run_id, version_id } of leases)
      expect(version_id).toBe(run_id === executing.run ? from.id : to.id);
    // Its retries remain on its version until they are moved.
    await t.end(executing, { kind: 'retry', error, delayMs: 60_000 });
    expect(await versionOf(t, executing.run)).toBe(from.version);
  });

  test('moves only the selected tasks and waiting states', async () => {
    const { t, from, to, runs } = await allKinds();
    expect(await t.move(from.version, to.version, { status: ['RETRYING', 'QUEUED'] })).toMatchObject({
      moved: 2,
    });
    expect(await t.move(from.version, to.version, { task: ['other'] })).toMatchObject({
      waiting: [{ task: 'other', status: 'PENDING_VERSION', count: 1 }],
      moved: 1,
    });
    for (const [status, id] of Object.entries(runs))
      expect(await versionOf(t, id)).toBe(
        ['DELAYED', 'WAITING'].includes(status) ? from.version : to.version,
      );
    expect(await t.move(from.version, to.version, { task: ['none'] })).toMatchObject({
      waiting: [],
      moved: 0,
      isComplete: true,
    });
  });

  test('is rejected as a whole if the other version lacks a task, which is named', async () => {
    const { t, from, locked } = await twoVersions();
    const narrow = await t.register('send');
    const runs = [await t.trigger('send', locked), await t.trigger('other', locked)];
    expect(await t.move(from.version, narrow.version, { dryRun: true })).toMatchObject({
      missingTasks: ['other'],
    });
    await expect(t.move(from.version, narrow.version)).rejects.toMatchObject({
      ...problem(409, /^Version .* lacks tasks with waiting runs: "other"\. Nothing was moved/),
      extra: { missingTasks: ['other'] },
    });
    for (const { id } of runs) expect(await versionOf(t, id)).toBe(from.version);
    expect(await t.move(from.version, narrow.version, { task: ['send'] })).toMatchObject({ moved: 1 });
  });

  test('is rejected for a version that is not ready or does not exist, and for itself', async () => {
    const { t, from, to } = await twoVersions();
    const created = await t.create(bundleOf({ 'a.js': 'a' }).body);
    await expect(t.move(from.version, created.version)).rejects.toMatchObject(
      problem(409, /is still being uploaded/),
    );
    await t.fail(created);
    await expect(t.move(from.version, created.id)).rejects.toMatchObject(problem(409, /failed/));
    await expect(t.move(from.version, '20200101.1')).rejects.toMatchObject(problem(404, /20200101\.1/));
    await expect(t.move('20200101.1', to.version)).rejects.toMatchObject(problem(404, /20200101\.1/));
    await expect(t.move(from.version, from.version)).rejects.toMatchObject(problem(422, /already/));
  });

  test('continues after an interruption when called again, in batches of the given size', async () => {
    const { t, from, to, locked } = await twoVersions();
    for (let n = 0; n < 25; n++)
      await t.trigger('send', { ...locked, ...(n % 3 > 0 && { concurrencyKey: `key ${n % 7}` }) });
    for (let n = 0; n < 12; n++) await t.trigger('send', { ...locked, delay: '1m' });
    const calls: number[] = [];
    for (;;) {
      const { moved, isComplete } = await t.move(from.version, to.version, {}, { atOnce: 2, budgetMs: 20 });
      calls.push(moved);
      if (isComplete) break;
    }
    expect(calls.reduce((sum, moved) => sum + moved, 0)).toBe(37);
    const [row] = await t.sql`
      select count(*) filter (where version_id = ${to.id})::int as moved, count(*)::int as runs,
             (select count(*)::int from queued) as queued, (select count(*)::int from delayed) as delayed from runs`;
    expect(row).toEqual({ moved: 37, runs: 37, queued: 25, delayed: 12 });
  });

  test('with concurrent claims: each run is claimed on its old version or moved, and none is lost', async () => {
    const { t, from, to, locked } = await twoVersions();
    await t.addRunner('r2');
    const count = 400;
    for (let n = 0; n < count; n += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          t.trigger('send', { ...locked, ...(i % 2 && { concurrencyKey: `key ${(n + i) % 40}` }) }),
        ),
      );
    const claimed: string[] = [];
    const seen = new Set<string>();
    let isMoved = false;
    const claim = async (runner: string, version: number): Promise<void> => {
      for (let empty = 0; empty < 3;) {
        const attempts = await t.claim(runner, [version], 7);
        for (const { run } of attempts) {
          expect(seen.has(run)).toBe(false);
          seen.add(run);
          if (version === from.id) claimed.push(run);
        }
        if (attempts.length === 0 && isMoved) empty++;
        // One runner returns runs, so that the move encounters them again. It stops when the move has ended, because nothing would take the
        // last run away from it.
        if (version === from.id && attempts[0] && !isMoved) {
          seen.delete(attempts[0].run);
          claimed.splice(claimed.indexOf(attempts[0].run), 1);
          await t.end(attempts[0], { kind: 'released' });
        }
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    // Some are claimed in any case, because the moves may be done before another claim.
    for (const { run } of await t.claim('r1', [from.id], 7)) {
      seen.add(run);
      claimed.push(run);
    }
    const [moved] = await Promise.all([
      t.move(from.version, to.version, {}, { atOnce: 20 }).finally(() => (isMoved = true)),
      claim('r1', from.id),
      claim('r2', to.id),
      t.move(from.version, to.version, {}, { atOnce: 13 }),
    ]);
    expect(moved.isComplete).toBe(true);
    // Runs that were returned after the pass.
    await t.move(from.version, to.version);
    for (let more = 1; more > 0;) {
      const attempts = await t.claim('r2', [to.id], 100);
      for (const { run } of attempts) seen.add(run);
      more = attempts.length;
    }
    expect(seen.size).toBe(count);
    expect(claimed.length).toBeGreaterThan(0);
    expect(claimed.length).toBeLessThan(count);
    const leases = await t.sql<
      { run_id: string; version_id: number }[]
    >`select run_id, version_id from leases`;
    expect(leases).toHaveLength(count);
    const onOld = new Set(claimed);
    for (const { run_id, version_id } of leases) expect(version_id).toBe(onOld.has(run_id) ? from.id : to.id);
  });

  test('protects the target from archiving in the meantime; the source can be archived once it has no runs left', async () => {
    const t = await testDeployments();
    const from = await t.deploy(bundleOf({ 'a.js': 'a' }));
    const to = await t.deploy(bundleOf({ 'b.js': 'b' }));
    const current = await t.deploy(bundleOf({ 'c.js': 'c' }));
    await t.promoteTo(current.version);
    await t.trigger('send', { lockToVersion: from.version });
    await expect(t.archive(from.version)).rejects.toMatchObject(
      problem(409, /or move it to another version \(`millrace versions move/),
    );
    await t.move(from.version, to.version);
    expect((await t.archive(from.version)).state).toBe('archived');
    await expect(t.archive(to.version)).rejects.toMatchObject(problem(409, /^1 run is bound to version/));
    // Runs of an archived version can still be moved away.
    expect(await t.move(from.version, to.version)).toMatchObject({ moved: 0, isComplete: true });
  });
});
