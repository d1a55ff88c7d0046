import { describe, expect, test } from 'vitest';
import { bundleOf } from './testing/bundle.ts';
import { testDeployments } from './testing/deployments.ts';

const problem = (status: number, message: RegExp) => ({
  status,
  message: expect.stringMatching(message) as string,
});

describe('promotion', () => {
  test('makes a version current, with its queues, and is reported once', async () => {
    const t = await testDeployments();
    const tasks = [{ id: 'send', filePath: 'tasks.ts', queue: { name: 'mail', concurrencyLimit: 3 } }];
    const deployed = await t.deploy(bundleOf({}, { more: { tasks } }));
    const waiting = await t.trigger('send');
    expect(await t.sql`select from pending_version`).toHaveLength(1);
    expect(await t.promoteTo(deployed.version)).toEqual({
      id: deployed.id,
      version: deployed.version,
      shortCode: deployed.shortCode,
      replaced: null,
      canaryPercent: null,
    });
    expect(await t.sql`select run_id from queued`).toEqual([{ run_id: waiting.id }]);
    expect(await t.sql`select concurrency_limit from queues where name = 'mail'`).toEqual([
      { concurrency_limit: 3 },
    ]);
    expect(await t.show(deployed.version)).toMatchObject({
      state: 'current',
      deployedAt: expect.any(String) as string,
    });
    // The second time, nothing changes and no runner is required.
    expect(await t.promoteTo(deployed.id, { force: false })).toMatchObject({ replaced: deployed.version });
    expect(t.acts.filter((act) => act.startsWith('version.promoted'))).toHaveLength(1);
  });

  test('requires a connected runner that has loaded the version, unless forced', async () => {
    const t = await testDeployments();
    const { version } = await t.deploy(bundleOf({}));
    const careful = { force: false };
    const refused = problem(409, /No connected runner has loaded version .*force=true/);
    await expect(t.promoteTo(version, careful)).rejects.toMatchObject(refused);
    await t.addRunner('one');
    await expect(t.promoteTo(version, careful)).rejects.toMatchObject(refused);
    await t.sql`update runners set versions = array(select id from versions)`;
    // A runner that has been silent for longer than its lease is considered lost.
    await t.sql`update runners set expires_at = now() - interval '1 second'`;
    await expect(t.promoteTo(version, careful)).rejects.toMatchObject(refused);
    await t.sql`update runners set expires_at = now() + interval '30 seconds', draining = true`;
    await expect(t.promoteTo(version, careful)).rejects.toMatchObject(refused);
    await t.sql`update runners set draining = false`;
    expect(await t.promoteTo(version, careful)).toMatchObject({ replaced: null });
    expect(await t.show(version)).toMatchObject({ runners: 1 });
  });

  test('of an older version requires permission to roll back', async () => {
    const t = await testDeployments();
    const [first, second] = [await t.deploy(bundleOf({})), await t.deploy(bundleOf({ 'a.js': 'a' }))];
    await t.promoteTo(second.version);
    await expect(t.promoteTo(first.version)).rejects.toMatchObject(
      problem(409, /is older than the current version .*--allow-rollback of .*allowRollbacks=true/),
    );
    expect(await t.promoteTo(first.version, { allowRollbacks: true })).toMatchObject({
      replaced: second.version,
    });
    expect(await t.promoteTo(second.version)).toMatchObject({ replaced: first.version });
    expect(await t.show(first.version)).toMatchObject({ state: 'drained' });
  });

  test('of an uploading, failed, archived or unknown version is rejected', async () => {
    const t = await testDeployments();
    const bundle = bundleOf({});
    const created = await t.create(bundle.body);
    await expect(t.promoteTo(created.version)).rejects.toMatchObject(problem(409, /still being uploaded/));
    await t.fail(created);
    await expect(t.promoteTo(created.version)).rejects.toMatchObject(problem(409, /failed \(stopped\)/));
    const next = await t.deploy(bundle);
    await t.archive(next.version);
    await expect(t.promoteTo(next.version)).rejects.toMatchObject(problem(409, /is archived/));
    await expect(t.promoteTo('20000101.1')).rejects.toMatchObject(problem(404, /no version "20000101\.1"/));
    await expect(t.promoteTo('deployment_\0')).rejects.toMatchObject(problem(404, /no version/));
  });

  test('of two versions at once succeeds for both, and one is current', async () => {
    const t = await testDeployments();
    const versions = [await t.deploy(bundleOf({})), await t.deploy(bundleOf({ 'a.js': 'a' }))];
    const all = [...versions, ...versions, ...versions];
    const replies = await Promise.all(
      all.map(({ version }) => t.promoteTo(version, { allowRollbacks: true })),
    );
    const [current] = await t.sql<{ version: string }[]>`
      select v.version from current_versions c join versions v on v.id = c.version_id`;
    const promoted = t.acts.filter((act) => act.startsWith('version.promoted'));
    expect(promoted.at(-1)).toBe(`version.promoted ${current!.version}`);
    expect(replies).toHaveLength(6);
  });
});

describe('archiving', () => {
  test('frees the files that no other version needs, after an hour', async () => {
    const t = await testDeployments();
    const deployed = await t.deploy(bundleOf({ 'a.js': 'a', 'b.js': 'b' }));
    await t.deploy(bundleOf({ 'a.js': 'a' }));
    expect(await t.archive(deployed.version)).toMatchObject({ state: 'archived', status: 'DEPLOYED' });
    expect(await t.archive(deployed.version)).toMatchObject({ state: 'archived' });
    expect(t.acts.filter((act) => act.startsWith('version.archived'))).toHaveLength(1);
    await t.prune();
    expect(await t.sql`select from blobs`).toHaveLength(4);
    t.engine.clock.shift(3_700_000);
    await t.prune();
    expect(await t.sql`select from blobs`).toHaveLength(3);
    expect(await t.sql`select distinct blob from blob_pieces`).toHaveLength(3);
    // It can be deployed again as another version.
    const again = await t.deploy(bundleOf({ 'a.js': 'a', 'b.js': 'b' }));
    expect(again.version).not.toBe(deployed.version);
  });

  test('is rejected for the current version, for one with live runs, and for one that does not exist', async () => {
    const t = await testDeployments();
    const current = await t.deploy(bundleOf({}));
    const older = await t.deploy(bundleOf({ 'a.js': 'a' }));
    await t.promoteTo(current.version);
    await expect(t.archive(current.version)).rejects.toMatchObject(problem(409, /is the current version/));
    const bound = [
      await t.trigger('send', { lockToVersion: older.version }),
      await t.trigger('send', { lockToVersion: older.version, delay: '1h' }),
      await t.trigger('send', { lockToVersion: older.version }),
    ];
    await t.addRunner('r');
    const [id] = [...(await t.engine.versions.ids(t.environment.id, [older.version])).values()];
    const [live] = await t.claim('r', [id!], 1);
    expect(await t.show(older.version)).toMatchObject({ state: 'ready', liveRuns: bound.length });
    await expect(t.archive(older.version)).rejects.toMatchObject(
      problem(409, /^3 runs are bound to version/),
    );
    await t.end(live!);
    await t.sql`delete from queued`;
    await t.sql`delete from delayed`;
    expect(await t.archive(older.version)).toMatchObject({ state: 'archived' });
    await expect(t.trigger('send', { lockToVersion: older.version })).rejects.toMatchObject(
      problem(422, /its deployment is archived/),
    );
    const created = await t.create(bundleOf({ 'b.js': 'b' }).body);
    await expect(t.archive(created.version)).rejects.toMatchObject(problem(409, /still being uploaded/));
    await t.fail(created);
    await expect(t.archive(created.version)).rejects.toMatchObject(problem(409, /has no files/));
  });

  test('by retention keeps the newest versions, the current one and those with live runs', async () => {
    const t = await testDeployments();
    const versions: string[] = [];
    for (let n = 0; n < 14; n++) versions.push((await t.deploy(bundleOf({ 'n.js': String(n) }))).version);
    await t.promoteTo(versions[0]!);
    await t.trigger('send', { lockToVersion: versions[1]! });
    await t.prune();
    const states = await Promise.all(versions.map(async (version) => (await t.show(version)).state));
    expect(states.slice(0, 4)).toEqual(['current', 'ready', 'archived', 'archived']);
    expect(new Set(states.slice(4))).toEqual(new Set(['ready']));
    await expect(t.promoteTo(versions[3]!, { allowRollbacks: true })).rejects.toMatchObject(
      problem(409, /is archived, and its files were deleted\. Deploy its code again/),
    );
    expect(await t.engine.versions.fetchable(t.environment.id)).toHaveLength(12);
  });

  test('fails an upload that was idle for a day, and frees its data', async () => {
    const t = await testDeployments();
    const bundle = bundleOf({ 'a.js': 'a' });
    const created = await t.create(bundle.body);
    const blob = created.missing[0]!.blob;
    await t.put(created, blob, bundle.blobs.get(blob)!.subarray(0, 10));
    t.engine.clock.shift(23 * 3_600_000);
    await t.create(bundle.body);
    t.engine.clock.shift(2 * 3_600_000);
    await t.prune();
    expect(await t.show(created.version)).toMatchObject({ state: 'uploading' });
    t.engine.clock.shift(23 * 3_600_000);
    await t.prune();
    expect(await t.show(created.version)).toMatchObject({
      state: 'failed',
      error: { name: 'TimeoutError' },
    });
    expect(await t.sql`select from blobs`).toEqual([]);
  });
});

describe('a run with externalDeploymentId', () => {
  const external = (externalDeploymentId: string) => ({ externalDeploymentId });
  const whereOf = async (t: Awaited<ReturnType<typeof testDeployments>>, id: string) => {
    const [row] = await t.sql<{ version: string | null; queued: boolean; pending: boolean }[]>`
      select v.version, exists (select from queued q where q.run_id = r.id) as queued,
             exists (select from pending_version p where p.run_id = r.id) as pending
        from runs r left join versions v on v.id = r.version_id where r.id = ${id}`;
    return row;
  };

  test('waits for the deployment with any current version, and starts on it', async () => {
    const t = await testDeployments();
    await t.register('send');
    const waiting = await t.trigger('send', external('build-7'));
    expect(await whereOf(t, waiting.id)).toEqual({ version: null, queued: false, pending: true });
    await t.register('send', 'other');
    await t.sql`select promote_pending_version(${t.environment.id}, now(), 100)`;
    expect(await whereOf(t, waiting.id)).toMatchObject({ pending: true });
    const bundle = bundleOf({}, { more: { externalId: 'build-7' } });
    const created = await t.create(bundle.body);
    await t.send(created, bundle);
    expect(await whereOf(t, waiting.id)).toMatchObject({ pending: true });
    await t.finalize(created);
    const bound = { version: created.version, queued: true, pending: false };
    expect(await whereOf(t, waiting.id)).toEqual(bound);
    const later = await t.trigger('send', external('  build-7 '));
    expect(await whereOf(t, later.id)).toEqual(bound);
    const free = await t.trigger('send', external('   '));
    expect(await whereOf(t, free.id)).toEqual({ version: null, queued: true, pending: false });
    await expect(t.trigger('none', external('build-7'))).rejects.toMatchObject(
      problem(422, /The deployment "build-7" is version ".*", which has no task "none"/),
    );
  });

  test('and a delay is bound to its version when due', async () => {
    const t = await testDeployments();
    const early = await t.trigger('send', { ...external('build-7'), delay: '1m' });
    const late = await t.trigger('send', { ...external('build-8'), delay: '1m' });
    const { version } = await t.deploy(bundleOf({}, { more: { externalId: 'build-7' } }));
    t.engine.clock.shift(61_000);
    await t.promote();
    expect(await whereOf(t, early.id)).toEqual({ version, queued: true, pending: false });
    expect(await whereOf(t, late.id)).toEqual({ version: null, queued: false, pending: true });
  });

  test('starts on the newest deployment with the id, and the same content can have two ids', async () => {
    const t = await testDeployments();
    const first = await t.deploy(bundleOf({}, { more: { externalId: 'a' } }));
    const second = await t.deploy(bundleOf({ 'a.js': 'a' }, { more: { externalId: 'a' } }));
    expect(await t.create(bundleOf({}, { more: { externalId: 'b' } }).body)).toMatchObject({
      id: first.id,
      isNew: false,
    });
    expect(await whereOf(t, (await t.trigger('send', external('a'))).id)).toMatchObject({
      version: second.version,
    });
    expect(await whereOf(t, (await t.trigger('send', external('b'))).id)).toMatchObject({
      version: first.version,
    });
  });
});
