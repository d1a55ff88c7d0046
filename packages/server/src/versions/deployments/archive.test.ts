import { expect, test } from 'vitest';
import { fillAtOnce } from '../../batches/fill-at-once.ts';
import { newTimedId } from '../../db/ids.ts';
import { asProblem } from '../../problem.ts';
import { insertRuns } from '../../runs/create/insert.ts';
import { prepareRun } from '../../runs/create/prepare.ts';
import { testTrigger } from '../../runs/testing/engine.ts';
import { bundleOf } from './testing/bundle.ts';
import { testDeployments } from './testing/deployments.ts';

const tasks = [{ id: 'send', filePath: 'tasks.ts' }];

/** A version that is not current, and triggers locked to it. */
async function start() {
  const t = await testDeployments();
  const old = await t.deploy(bundleOf({}, { more: { tasks } }));
  const current = await t.deploy(bundleOf({ 'a.js': 'a' }, { more: { tasks } }));
  await t.promoteTo(current.version);
  return {
    t,
    old,
    prepare: () => prepareRun(t.engine, t.environment, 'send', { options: { lockToVersion: old.version } }),
    trigger: testTrigger(t.engine, t.dispatch),
  };
}

const refused = { status: 422, code: 'version_not_ready' };

test('a trigger locked to a version that is archived in the meantime is rejected, while others in the same write are not', async () => {
  const { t, old, prepare, trigger } = await start();
  const locked = await prepare();
  const free = await prepareRun(t.engine, t.environment, 'send', {});
  await t.archive(old.version);
  const [rejected, created] = await Promise.all([
    trigger(locked).then(
      () => undefined,
      (error: unknown) => error,
    ),
    trigger(free),
  ]);
  expect(asProblem(rejected)).toMatchObject({
    ...refused,
    message: `Version "${old.version}" cannot execute runs: its deployment is archived. Lock to another version.`,
  });
  expect(created.id).toBe(free.id);
  expect(await t.sql`select id from runs`).toEqual([{ id: free.id }]);
});

test('archiving waits for a trigger that is locked to the version, and is then rejected', async () => {
  const { t, old, prepare } = await start();
  const run = await prepare();
  const archived = await t.sql.begin(async (tx) => {
    await insertRuns({ sql: tx, clock: t.engine.clock }, [run]);
    const archiving = t.archive(old.version).then(
      () => 'archived',
      (error: Error) => error.message,
    );
    await expect
      .poll(() => t.sql`select from pg_locks where not granted and locktype = 'transactionid'`, {
        timeout: 10_000,
      })
      .toHaveLength(1);
    return { archiving };
  });
  expect(await archived.archiving).toMatch(/^1 run is bound to version/);
});

test('a batch that is filled in one statement leaves such items to the general path', async () => {
  const { t, old, prepare } = await start();
  const now = t.engine.clock.now();
  const id = newTimedId('batch', now);
  const created_at = new Date(now);
  await t.sql`insert into batches (env, id, run_count, created_at) values (${t.environment.id}, ${id}, 1, ${created_at})`;
  const items = [{ run: { ...(await prepare()), batch: id }, isOversized: false }];
  await t.archive(old.version);
  const row = { id, run_count: 1, received: 0, created_at } as never;
  expect(await fillAtOnce(t.sql, t.environment.id, row, items, now)).toBeUndefined();
});

test('no run is bound to an archived version, for any interleaving of triggers and archiving', async () => {
  const { t, trigger } = await start();
  for (let n = 0; n < 12; n++) {
    const { version } = await t.deploy(bundleOf({ [`${n}.js`]: 'a' }, { more: { tasks } }));
    const prepare = async () =>
      prepareRun(t.engine, t.environment, 'send', { options: { lockToVersion: version } });
    const runs = await Promise.all(Array.from({ length: 6 }, prepare));
    const steps = [...runs.map((run) => () => trigger(run)), () => t.archive(version)];
    // Archiving begins before, between or after the triggers.
    steps.splice(n % 7, 0, ...steps.splice(6, 1));
    await Promise.allSettled(steps.map((step) => step()));
    const [row] = await t.sql<{ state: string; runs: number }[]>`
      select v.state, (select count(*)::int from runs r where r.version_id = v.id) as runs
        from versions v where v.version = ${version}`;
    expect(row).toMatchObject(
      row?.state === 'archived' ? { runs: 0 } : { state: 'ready', runs: runs.length },
    );
  }
});
