import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newTimedId } from '../../db/ids.ts';
import { bundleOf } from './testing/bundle.ts';
import { testDeployments } from './testing/deployments.ts';

const problem = (status: number, message: RegExp) => ({
  status,
  message: expect.stringMatching(message) as string,
});
const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: 'Error: no' } as const;

/** The documented formula. */
const shareOf = (run: string): number =>
  Number.parseInt(createHash('md5').update(run).digest('hex').slice(0, 8), 16) % 100;

/** A current version and another one, both with the task `send`, and two runners. */
async function twoVersions() {
  const t = await testDeployments();
  const current = await t.deploy(bundleOf({ 'a.js': 'a' }, { tasks: ['send', 'old'] }));
  const canary = await t.deploy(bundleOf({ 'b.js': 'b' }));
  await t.promoteTo(current.version);
  await t.addRunner('r1');
  await t.addRunner('r2');
  const ids = await t.engine.versions.ids(t.environment.id, [current.version, canary.version]);
  const [currentId, canaryId] = [ids.get(current.version)!, ids.get(canary.version)!];
  const triggered = async (count: number, task = 'send') => {
    const runs: string[] = [];
    for (let n = 0; n < count; n++) runs.push((await t.trigger(task)).id);
    return runs;
  };
  /** Claims as a server does for a runner that can execute only the canary. */
  const claimCanary = async () => {
    const rows = await t.sql<{ run_id: string; fence: string }[]>`
      select * from claim_runs(${t.environment.id}, 'r2', ${[0, canaryId]}::int[], null, 500, '(-1,0,)', ${new Date(t.engine.clock.now())})`;
    return rows.map(({ run_id, fence }) => ({ run: run_id, fence: Number(fence) }));
  };
  const leases = async () =>
    new Map(
      (await t.sql<{ run_id: string; version_id: number }[]>`select run_id, version_id from leases`).map(
        (row) => [row.run_id, row.version_id],
      ),
    );
  return { t, current, canary, currentId, canaryId, triggered, claimCanary, leases };
}

test('the share of a run is derived from its id as documented, and shares are equal', async () => {
  const { sql } = await testDeployments();
  const runs = Array.from({ length: 5_000 }, (_, n) => newTimedId('run', 1_700_000_000_000 + n));
  const rows = await sql<{ id: string; share: number }[]>`
    select id, canary_share(id) as share from unnest(${runs}::text[]) as i (id)`;
  for (const { id, share } of rows) expect(share).toBe(shareOf(id));
  const below = rows.filter(({ share }) => share < 10).length;
  expect(below).toBeGreaterThan(400);
  expect(below).toBeLessThan(600);
});

describe('a canary', () => {
  test('gets its share of the runs, which stay on it; runs of tasks that it lacks start on the current version', async () => {
    const { t, canary, currentId, canaryId, triggered, leases } = await twoVersions();
    const before = await triggered(1);
    expect(await t.claim('r1', [currentId, canaryId], 10)).toHaveLength(1);
    expect((await leases()).get(before[0]!)).toBe(currentId);
    expect(await t.promoteTo(canary.version, { percent: 40 })).toMatchObject({
      replaced: null,
      canaryPercent: 40,
    });
    expect(await t.show(canary.version)).toMatchObject({ state: 'ready', canaryPercent: 40 });
    const runs = await triggered(60);
    const old = await triggered(20, 'old');
    const locked = await t.trigger('send', { lockToVersion: canary.version });
    const attempts = await t.claim('r1', [currentId, canaryId], 500);
    expect(attempts).toHaveLength(81);
    const on = await leases();
    for (const run of runs) expect(on.get(run)).toBe(shareOf(run) < 40 ? canaryId : currentId);
    for (const run of old) expect(on.get(run)).toBe(currentId);
    expect(on.get(locked.id)).toBe(canaryId);

    // Its retries remain on it, even if the canary changes.
    const retried = attempts.find(({ run }) => on.get(run) === canaryId && run !== locked.id)!;
    await t.end(retried, { kind: 'retry', error, delayMs: 0 });
    expect(await t.abortCanary(canary.version)).toMatchObject({ canaryPercent: null });
    t.engine.clock.shift(10);
    await t.promote();
    expect((await t.claim('r1', [currentId, canaryId], 10)).map(({ run }) => run)).toEqual([retried.run]);
    expect((await leases()).get(retried.run)).toBe(canaryId);
    const after = await triggered(30);
    await t.claim('r1', [currentId, canaryId], 500);
    const then = await leases();
    for (const run of after) expect(then.get(run)).toBe(currentId);
    expect(t.acts.filter((act) => act.includes('canary'))).toEqual([
      `version.canarySet ${canary.version}`,
      `version.canaryAborted ${canary.version}`,
    ]);
  });

  test('and the current version can be served by runners that have only one of them', async () => {
    const { t, canary, currentId, canaryId, triggered, claimCanary, leases } = await twoVersions();
    // Before and after the version is the canary, its runner receives only runs bound to it.
    await triggered(3);
    expect(await claimCanary()).toEqual([]);
    expect(await t.claim('r1', [currentId], 10)).toHaveLength(3);
    await t.promoteTo(canary.version, { percent: 30 });
    const runs = [...(await triggered(60)), ...(await triggered(10, 'old'))];
    const old = new Set(runs.slice(60));
    const isCanary = (run: string) => shareOf(run) < 30 && !old.has(run);
    const rest = (await t.claim('r1', [currentId], 500)).map(({ run }) => run);
    expect(rest.toSorted()).toEqual(runs.filter((run) => !isCanary(run)).toSorted());
    const its = await claimCanary();
    expect(its.map(({ run }) => run).toSorted()).toEqual(runs.filter(isCanary).toSorted());
    const on = await leases();
    for (const run of runs) expect(on.get(run)).toBe(isCanary(run) ? canaryId : currentId);
    // Returned runs move to the current version once the canary has ended.
    for (const attempt of its) await t.end(attempt, { kind: 'released' });
    await t.abortCanary(canary.version);
    expect(await claimCanary()).toEqual([]);
    expect(await t.claim('r1', [currentId], 500)).toHaveLength(its.length);
  });

  test('can be promoted, is ended by any other promotion, and can change its share', async () => {
    const { t, current, canary } = await twoVersions();
    const cached = async () => (await t.engine.versions.current(t.environment.id))?.canary;
    expect(await cached()).toBeUndefined();
    await t.promoteTo(canary.version, { percent: 10 });
    expect(await cached()).toMatchObject({ percent: 10 });
    await t.promoteTo(canary.version, { percent: 10 });
    await t.promoteTo(canary.version, { percent: 50 });
    expect(await cached()).toMatchObject({ percent: 50 });
    expect(t.acts.filter((act) => act.includes('canary'))).toHaveLength(2);
    // Promoting the current version again changes nothing.
    await t.promoteTo(current.version);
    expect(await t.show(canary.version)).toMatchObject({ canaryPercent: 50 });
    expect(await t.promoteTo(canary.version)).toMatchObject({
      replaced: current.version,
      canaryPercent: null,
    });
    expect(await t.show(canary.version)).toMatchObject({ state: 'current', canaryPercent: null });
    expect(await cached()).toBeUndefined();
    const third = await t.deploy(bundleOf({ 'c.js': 'c' }));
    await t.promoteTo(third.version, { percent: 5 });
    await t.promoteTo(current.version, { allowRollbacks: true });
    expect(await t.show(third.version)).toMatchObject({ state: 'ready', canaryPercent: null });
  });

  test('is rejected with a message that suggests a fix', async () => {
    const { t, current, canary } = await twoVersions();
    await expect(t.promoteTo(current.version, { percent: 10 })).rejects.toMatchObject(
      problem(409, /is the current version/),
    );
    await expect(t.promoteTo(canary.version, { percent: 10, force: false })).rejects.toMatchObject(
      problem(409, /No connected runner has loaded/),
    );
    await expect(t.abortCanary(canary.version)).rejects.toMatchObject(
      problem(409, /is not the canary: no canary exists/),
    );
    const third = await t.deploy(bundleOf({ 'c.js': 'c' }));
    await t.promoteTo(canary.version, { percent: 10 });
    await expect(t.promoteTo(third.version, { percent: 10 })).rejects.toMatchObject(
      problem(
        409,
        /is the canary, with 10 percent of the new runs\. Promote it without a percentage, or abort/,
      ),
    );
    await expect(t.abortCanary(third.version)).rejects.toMatchObject(
      problem(409, new RegExp(`is not the canary: the canary is ${canary.version}`)),
    );
    await expect(t.archive(canary.version)).rejects.toMatchObject(problem(409, /Abort it first/));
    for (let n = 0; n < 11; n++) await t.deploy(bundleOf({ 'n.js': String(n) }));
    await t.prune();
    expect(await t.show(canary.version)).toMatchObject({ state: 'ready', canaryPercent: 10 });
    const created = await t.create(bundleOf({ 'd.js': 'd' }).body);
    await expect(t.promoteTo(created.version, { percent: 10 })).rejects.toMatchObject(
      problem(409, /still being uploaded/),
    );
    const empty = await testDeployments();
    const only = await empty.deploy(bundleOf({}));
    await expect(empty.promoteTo(only.version, { percent: 10 })).rejects.toMatchObject(
      problem(409, /No version is current/),
    );
  });
});
