import { listProjectRuns, type RunListItem } from '@millrace/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cancelRun } from '../cancel/cancel.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { listRuns } from './list.ts';
import { idAt } from './position.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const failure = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;

const list = (t: TestEngine, query: Record<string, string> = {}, envs = [t.environment.id]) =>
  listRuns(t.engine.sql, { envs, query: listProjectRuns.query.parse(query), now: t.engine.clock.now() });

const everyStatus = [
  'CANCELED',
  'COMPLETED',
  'DELAYED',
  'EXECUTING',
  'EXPIRED',
  'FAILED',
  'PENDING_VERSION',
  'QUEUED',
  'TIMED_OUT',
] as const;

const ids = async (t: TestEngine, query: Record<string, string> = {}) =>
  (await list(t, query)).data.map((run) => run.id);

/** Every page, forward from the first. */
async function pages(t: TestEngine, query: Record<string, string>): Promise<string[][]> {
  const all: string[][] = [];
  let after: string | undefined;
  do {
    const page = await list(t, { ...query, ...(after !== undefined && { 'page[after]': after }) });
    all.push(page.data.map((run) => run.id));
    after = page.pagination.next;
  } while (after !== undefined);
  return all;
}

describe('a list of runs', () => {
  test('is in order of creation, newest first, with pages in both directions', async () => {
    const t = await testEngine();
    await t.register('send');
    const created: string[] = [];
    for (let n = 0; n < 7; n++) {
      created.unshift((await t.trigger('send')).id);
      t.engine.clock.shift(700);
    }
    expect(await pages(t, { 'page[size]': '3' })).toEqual([
      created.slice(0, 3),
      created.slice(3, 6),
      created.slice(6),
    ]);
    const second = await list(t, { 'page[size]': '3', 'page[after]': created[2]! });
    expect(second.pagination).toEqual({ next: created[5], previous: created[3] });
    const first = await list(t, { 'page[size]': '3', 'page[before]': created[3]! });
    expect(first.data.map((run) => run.id)).toEqual(created.slice(0, 3));
    expect(first.pagination).toEqual({ next: created[2] });
  });

  test('prefers `before` over `after`', async () => {
    const t = await testEngine();
    await t.register('send');
    const created: string[] = [];
    for (let n = 0; n < 5; n++) {
      created.unshift((await t.trigger('send')).id);
      t.engine.clock.shift(2);
    }
    expect(
      await ids(t, { 'page[size]': '1', 'page[after]': created[4]!, 'page[before]': created[2]! }),
    ).toEqual([created[1]]);
  });

  test('accepts cursors from other servers and of deleted runs', async () => {
    const t = await testEngine();
    await t.register('send');
    const old = await t.trigger('send');
    t.engine.clock.shift(5);
    const cursor = await t.trigger('send');
    await t.sql`delete from queued where run_id = ${cursor.id}`;
    await t.sql`delete from runs where id = ${cursor.id}`;
    const opaque = Buffer.from(JSON.stringify({ c: 1, r: cursor.id })).toString('base64url');
    expect(await ids(t, { 'page[after]': cursor.id })).toEqual([old.id]);
    expect(await ids(t, { 'page[after]': opaque })).toEqual([old.id]);
  });

  test.each(['x', '', 'run_', 'run_A', 'error_1', '%00', Buffer.from('{"r":5}').toString('base64url')])(
    'rejects the cursor %j by name',
    async (cursor) => {
      const t = await testEngine();
      await expect(list(t, { 'page[before]': cursor })).rejects.toMatchObject({
        status: 400,
        extra: { details: [{ path: ['page[before]'] }] },
      });
    },
  );

  test('shows the last seven days by default, and includes both ends of a range', async () => {
    const t = await testEngine();
    await t.register('send');
    const old = await t.trigger('send');
    t.engine.clock.shift(7 * 86_400_000 + 60_000);
    const young = await t.trigger('send');
    expect(await ids(t)).toEqual([young.id]);
    expect(await ids(t, { 'filter[createdAt][period]': '8d' })).toEqual([young.id, old.id]);
    const [item] = (await list(t, { 'filter[createdAt][period]': '8d', 'page[after]': young.id })).data;
    const at = String(Date.parse(item!.createdAt));
    expect(await ids(t, { 'filter[createdAt][from]': at, 'filter[createdAt][to]': at })).toEqual([old.id]);
    expect(await ids(t, { 'filter[createdAt][to]': at })).toEqual([old.id]);
    expect(await ids(t, { 'filter[createdAt][from]': '-999999999999999' })).toEqual([young.id, old.id]);
    expect(await ids(t, { 'filter[createdAt][to]': at, 'filter[createdAt][period]': '1h' })).toEqual([
      young.id,
    ]);
  });

  test('of several environments is one list with the environment of each run', async () => {
    const t = await testEngine();
    await t.register('send');
    const [project] = await t.sql<{ project_id: number }[]>`select project_id from environments`;
    const [other] = await t.sql<{ id: number }[]>`
      insert into environments (public_id, project_id, kind, branch, parent_id)
      select 'env_branch', ${project!.project_id}, 'preview', 'Fix/it', id from environments returning id`;
    const first = await t.trigger('send');
    await t.sql`update runs set env = ${other!.id} where id = ${first.id}`;
    await t.sql`insert into run_facets select ${other!.id}, facet, span from run_facets`;
    t.engine.clock.shift(5);
    const two = await t.trigger('send');
    const both = [t.environment.id, other!.id];
    const queries: Record<string, string>[] = [{}, { 'filter[taskIdentifier]': 'send' }];
    for (const query of queries) {
      const { data } = await list(t, query, both);
      expect(data.map(({ id, env }) => [id, env.name])).toEqual([
        [two.id, 'prod'],
        [first.id, 'preview-fix-it'],
      ]);
    }
  });

  test('is empty for names that do not exist', async () => {
    const t = await testEngine();
    await t.register('send');
    await t.trigger('send');
    for (const name of [
      'taskIdentifier',
      'version',
      'tag',
      'queue',
      'schedule',
      'error',
      'batch',
      'bulkAction',
      'region',
    ]) {
      expect(await list(t, { [`filter[${name}]`]: 'no\u0000ne' })).toEqual({ data: [], pagination: {} });
      expect(await list(t, { [`filter[${name}]`]: 'none' })).toEqual({ data: [], pagination: {} });
    }
    expect(await ids(t, { 'filter[tag]': ' , ' })).toHaveLength(1);
  });

  test('finds the few runs that match two common filters, among many that match only one', async () => {
    const t = await testEngine();
    await t.register('send');
    await t.trigger('send');
    const now = t.engine.clock.now();
    // Each span has one run with the tag and one with the machine; only in the three oldest does one run have both.
    const spans = Array.from({ length: 1_200 }, (_, n) => idAt(now - 60_000 - n * 2_000));
    const isLast = (n: number) => n >= 1_197;
    const rows = spans.flatMap((span, n) => [
      { id: `${span}tagged0000000000`, tag: 'all', machine: isLast(n) ? 'micro' : null },
      { id: `${span}machine000000000`, tag: 'other', machine: 'micro' },
    ]);
    await t.sql`
      insert into runs (env, id, task, queue_id, sort_key, created_at, tags, machine, status, finished_at)
      select r.env, i.id, r.task, r.queue_id, r.sort_key, r.created_at - interval '1 minute', array[i.tag], i.machine, 'COMPLETED', now()
        from runs r, unnest(${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.tag)}::text[],
                            ${rows.map((row) => row.machine)}::text[]) as i (id, tag, machine)`;
    await t.sql`
      insert into run_facets
      select distinct r.env, f.facet, left(r.id, 10)
        from runs r, unnest(r.tags) g, unnest(array['tag:' || g, 'machine:' || r.machine, 'own_queue_task:send', 'status:COMPLETED']) as f (facet)
       where f.facet is not null on conflict do nothing`;
    const expected = rows.filter((row) => row.tag === 'all' && row.machine !== null).map((row) => row.id);
    const filter = { 'filter[tag]': 'all', 'filter[machine]': 'micro', 'filter[status]': 'COMPLETED' };
    expect(await ids(t, filter)).toEqual(expected);
    expect(await pages(t, { ...filter, 'page[size]': '1' })).toEqual(expected.map((id) => [id]));
    expect(await ids(t, { ...filter, 'page[before]': expected.at(-1)! })).toEqual(expected.slice(0, -1));
  });

  test('scans a limited range for common filters that rarely overlap, and returns where to continue', async () => {
    const t = await testEngine();
    await t.register('send');
    const both = { tags: ['common'], machine: 'large-1x' as const };
    const oldest = await t.trigger('send', both);
    t.engine.clock.shift(10_000);
    const now = t.engine.clock.now();
    // Spans that contain both, although no run has both.
    const spans = Array.from({ length: 9_000 }, (_, n) => idAt(now + n * 1_296).slice(0, 10));
    await t.sql`
      insert into run_facets (env, facet, span)
      select ${t.environment.id}, f, s from unnest(${spans}::text[]) s, unnest(array['tag:common', 'machine:large-1x']) f`;
    t.engine.clock.shift(9 * 3_600_000);
    const newest = await t.trigger('send', both);
    const query = { 'filter[tag]': 'common', 'filter[machine]': 'large-1x' };
    const forward = await pages(t, query);
    expect(forward.flat()).toEqual([newest.id, oldest.id]);
    expect(forward.length).toBeGreaterThan(2);
    const back: string[] = [];
    let before: string | undefined = oldest.id;
    for (let pagesBack = 0; before !== undefined; pagesBack++) {
      expect(pagesBack).toBeLessThan(10);
      const page = await list(t, { ...query, 'page[before]': before });
      back.push(...page.data.map((run) => run.id));
      before = page.pagination.previous;
    }
    expect(back).toEqual([newest.id]);
  });

  test('finds the waiting runs of a long queue below newer finished ones', async () => {
    const t = await testEngine();
    const version = await t.register({ id: 'slow', queue: { name: 'slow' } }, 'quick');
    const slow = await t.trigger('slow');
    await t.sql`
      insert into runs (env, id, task, queue_id, sort_key, created_at)
      select env, left(id, 9) || lpad(to_hex(n), 15, '0'), task, queue_id, sort_key + n, created_at
        from runs, generate_series(1, 51000) n`;
    await t.sql`
      insert into queued (lane_id, sort_key, run_id, env)
      select l.id, r.sort_key, r.id, r.env from runs r, lanes l where r.id <> ${slow.id}`;
    await t.sql`
      insert into run_facets select distinct env, 'queue:' || queue_id, left(id, 10) from runs on conflict do nothing`;
    await t.sql`update queues set paused = true where name = 'slow'`;
    t.engine.clock.shift(60_000);
    const { id } = await t.trigger('quick');
    await t.addRunner('r');
    for (const attempt of await t.claim('r', [version.id], 5)) await t.end(attempt);
    expect(await t.statusOf(id)).toBe('COMPLETED');
    const newest = await t.sql<
      { id: string }[]
    >`select id from runs where status is null order by id desc limit 25`;
    expect(await ids(t, { 'filter[status]': 'QUEUED' })).toEqual(newest.map((run) => run.id));
  });
});

interface RunRow {
  readonly id: string;
  readonly queue: string;
  readonly machine: string | null;
  readonly schedule: string | null;
  readonly error: string | null;
}

/** Runs of every kind and status, created by the operations themselves, and the data that a list does not include. */
async function runsOfEverySort() {
  const t = await testEngine();
  const random = fc.sample(fc.infiniteStream(fc.nat(1_000_000)), { numRuns: 1, seed: 20261121 })[0]!;
  const roll = (sides: number): number => (random.next().value as number) % sides;
  const old = await t.register('a', 'b', { id: 'c', queue: { name: 'shared' } });
  await t.addRunner('r');
  const version = { now: old };
  const live: { run: string; fence: number; attempt: number }[] = [];
  for (let n = 0; n < 260; n++) {
    if (n === 130) version.now = await t.register('a', 'b', { id: 'c', queue: { name: 'shared' } }, 'd');
    const task = ['a', 'b', 'c', 'unknown'][roll(20) === 0 ? 3 : roll(3)]!;
    const { id } = await t.trigger(task, {
      ...(roll(4) === 0 && { tags: [`t${roll(3)}`, 'all'] }),
      ...(roll(9) === 0 && { queue: { name: ['shared', 'task/b', 'own'][roll(3)]! } }),
      ...(roll(9) === 0 && { machine: roll(2) === 0 ? 'micro' : 'large-1x' }),
      ...(roll(9) === 0 && { test: true }),
      ...(roll(12) === 0 && { delay: '1d' }),
      ...(roll(12) === 0 && task !== 'unknown' && { lockToVersion: old.version }),
      ...(roll(15) === 0 && { ttl: '1s' }),
    });
    if (roll(10) === 0) await t.sql`update runs set schedule_id = 'sched_1' where id = ${id}`;
    if (roll(30) === 0) await cancelRun(t.engine, t.runners, t.environment.id, id);
    if (roll(3) === 0) live.push(...(await t.claim('r', [old.id, version.now.id], 3)));
    while (live.length > 6) {
      const attempt = live.splice(roll(live.length), 1)[0]!;
      const kind = roll(6);
      if (kind === 0) await t.end(attempt, { kind: 'failed', status: 'FAILED', error: failure });
      else if (kind === 1) await t.end(attempt, { kind: 'failed', status: 'TIMED_OUT', error: failure });
      else if (kind === 2) await t.end(attempt, { kind: 'retry', delayMs: 1e8, error: failure });
      else await t.end(attempt);
    }
    t.engine.clock.shift(roll(3) === 0 ? 1_500 : 30);
    if (n % 40 === 0) await t.expire();
  }
  await t.sql`
    insert into run_facets select distinct env, 'schedule:' || schedule_id, left(id, 10) from runs where schedule_id is not null`;
  const all: RunListItem[] = [];
  for (let after: string | undefined; ;) {
    const page = await list(t, { 'page[size]': '100', ...(after !== undefined && { 'page[after]': after }) });
    all.push(...page.data);
    after = page.pagination.next;
    if (after === undefined) break;
  }
  const rows = await t.sql<RunRow[]>`
    select r.id, q.name as queue, r.machine, r.schedule_id as schedule, f.group_id as error
      from runs r join queues q on q.id = r.queue_id left join error_fingerprints f on f.id = r.error_fingerprint_id`;
  expect(all).toHaveLength(260);
  const versions = [...new Set(all.map((run) => run.version).filter((each) => each !== undefined))];
  return { t, all, rowsById: new Map(rows.map((row) => [row.id, row])), versions };
}

describe('filters', () => {
  test('match the expected runs, alone and combined, page by page in both directions', async () => {
    const { t, all, rowsById, versions } = await runsOfEverySort();
    expect([...new Set(all.map((run) => run.status))].toSorted()).toEqual(everyStatus);
    expect(versions).toHaveLength(2);
    const error = [...rowsById.values()].find((row) => row.error !== null)?.error;
    // Usually one or two filters at once, because with more, nothing would match.
    const sometimes = <T>(values: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values });
    const some = <T extends string>(...values: T[]) =>
      sometimes(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }));
    const at = sometimes(fc.nat(259));
    const filters = fc.record({
      status: some(...everyStatus, 'WAITING'),
      taskIdentifier: some('a', 'b', 'c', 'unknown', 'none'),
      tag: some('t0', 't1', 't2', 'all', 'none'),
      queue: some('shared', 'task/a', 'task/b', 'own', 'none'),
      version: some(...versions, '19990101.1'),
      machine: some('micro', 'large-1x', 'small-1x'),
      isTest: sometimes(fc.constantFrom('true', 'false')),
      schedule: sometimes(fc.constant('sched_1')),
      error: sometimes(fc.constant(error!)),
      from: at,
      to: at,
      // Occasionally one page per run, which takes one request per run.
      size: fc.oneof(
        { weight: 1, arbitrary: fc.constant(1) },
        { weight: 9, arbitrary: fc.constantFrom(7, 100) },
      ),
    });
    await fc.assert(
      fc.asyncProperty(filters, async ({ from, to, size, ...filter }) => {
        const query: Record<string, string> = { 'page[size]': String(size) };
        for (const [name, value] of Object.entries(filter)) {
          if (value !== undefined) query[`filter[${name}]`] = String(value);
        }
        if (from !== undefined) query['filter[createdAt][from]'] = all[from]!.createdAt;
        if (to !== undefined) query['filter[createdAt][to]'] = all[to]!.createdAt;
        const expected = all.filter((run) => {
          const { queue, machine, schedule, error: group } = rowsById.get(run.id)!;
          return (
            (filter.status?.includes(run.status as 'QUEUED') ?? true) &&
            (filter.taskIdentifier?.includes(run.taskIdentifier as 'a') ?? true) &&
            (filter.tag?.some((tag) => run.tags.includes(tag)) ?? true) &&
            (filter.queue?.includes(queue as 'own') ?? true) &&
            (filter.version?.includes(run.version!) ?? true) &&
            (filter.machine?.includes(machine as 'micro') ?? true) &&
            (filter.isTest === undefined || String(run.isTest) === filter.isTest) &&
            (filter.schedule === undefined || schedule === filter.schedule) &&
            (filter.error === undefined || group === filter.error) &&
            (from === undefined || run.createdAt >= all[from]!.createdAt) &&
            (to === undefined || run.createdAt <= all[to]!.createdAt)
          );
        });
        const fetched = (await pages(t, query)).flat();
        expect(fetched).toEqual(expected.map((run) => run.id));
        if (fetched.length > 1) {
          const back = await list(t, { ...query, 'page[before]': fetched.at(-1)! });
          expect(back.data.map((run) => run.id)).toEqual(fetched.slice(0, -1).slice(-size));
        }
      }),
      { numRuns: numRuns(150) },
    );
  }, 120_000);

  test('have the type and the first line of errors, if they are requested', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('a');
    await t.addRunner('r');
    await t.trigger('a');
    const [attempt] = await t.claim('r', [version], 1);
    const error = { ...failure, name: 'RangeError', message: `first\n${'second '.repeat(100)}` };
    await t.end(attempt!, { kind: 'failed', status: 'FAILED', error });
    await t.trigger('a');
    expect((await list(t, { errors: 'true' })).data.map((run) => run.error)).toEqual([
      undefined,
      { name: 'RangeError', message: 'first' },
    ]);
    expect((await list(t)).data[1]).not.toHaveProperty('error');
  });

  test('accept the former names of statuses', async () => {
    const t = await testEngine();
    await t.register('a');
    const { id } = await t.trigger('unknown');
    await t.trigger('a');
    expect(await ids(t, { 'filter[status]': 'WAITING_FOR_DEPLOY,FROZEN' })).toEqual([id]);
  });
});
