import { expect, test } from 'vitest';
import { listRunsQuery } from '@millrace/contract';
import { listRuns } from '../list/list.ts';
import { changeMetadata } from '../metadata/metadata.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { pathKeeper } from './backfill.ts';
import { declareFindBy } from './declare.ts';
import { pathFacets } from '../facets/path-facets.ts';

async function declare({ sql, environment, engine }: TestEngine, ...paths: string[]): Promise<void> {
  for (const path of paths)
    await sql`insert into run_paths (env, path, created_at) values (${environment.id}, ${path}, ${new Date(engine.clock.now())})`;
  await engine.paths.refresh();
}

async function found({ sql, environment, engine }: TestEngine, filters: object): Promise<string[]> {
  const query = listRunsQuery.parse(
    Object.fromEntries(
      Object.entries(filters).map(([name, value]) => [
        `filter[${name}]`,
        typeof value === 'object' ? JSON.stringify(value) : value,
      ]),
    ),
  );
  const { data } = await listRuns(sql, { envs: [environment.id], query, now: engine.clock.now() });
  return data.map(({ id }) => id);
}

test('runs are found by values in metadata and payload at declared paths', async () => {
  const t = await testEngine();
  await t.register('mail');
  await declare(t, 'metadata.customer.id', 'metadata.flag', 'payload.order');
  const ada = await t.trigger(
    'mail',
    { metadata: { customer: { id: 42 }, flag: true } },
    { order: 'a,b="c"\\' },
  );
  const bob = await t.trigger(
    'mail',
    { metadata: { customer: { id: '42' } } },
    { order: 'x'.repeat(10_000) },
  );
  await t.trigger('mail', { metadata: { customer: { id: { deep: 42 } }, 'customer.id': 42 } }, [1]);
  await t.trigger('mail');
  expect(await found(t, { metadata: { 'customer.id': 42 } })).toEqual([bob.id, ada.id]);
  expect(await found(t, { metadata: { 'customer.id': '42', flag: true } })).toEqual([ada.id]);
  expect(await found(t, { metadata: { 'customer.id': [41, 43] } })).toEqual([]);
  expect(await found(t, { payload: { order: 'a,b="c"\\' } })).toEqual([ada.id]);
  expect(await found(t, { payload: { order: 'x'.repeat(10_000) }, metadata: { 'customer.id': 42 } })).toEqual(
    [bob.id],
  );
  expect(await found(t, { payload: { order: 'x'.repeat(9_999) } })).toEqual([]);
  expect(await found(t, { metadata: { 'customer.id': 42 }, taskIdentifier: 'other' })).toEqual([]);
});

test('a run is found by its current metadata', async () => {
  const t = await testEngine();
  await t.register('mail');
  await declare(t, 'metadata.step', 'payload.order');
  const { id } = await t.trigger('mail', { metadata: { step: 'one' } }, { order: 7 });
  await changeMetadata(t.engine, t.environment.id, id, {
    operations: [{ type: 'set', key: 'step', value: 'two' }],
  });
  expect(await found(t, { metadata: { step: 'two' }, payload: { order: 7 } })).toEqual([id]);
  expect(await found(t, { metadata: { step: 'one' } })).toEqual([]);
});

test('data that a debounced run adopts is indexed', async () => {
  const t = await testEngine();
  await t.register('mail');
  await declare(t, 'payload.order');
  const debounce = { key: 'k', delay: '1h', mode: 'trailing' as const };
  const { id } = await t.trigger('mail', { debounce }, { order: 1 });
  expect((await t.trigger('mail', { debounce }, { order: 2 })).id).toBe(id);
  expect(await found(t, { payload: { order: 2 } })).toEqual([id]);
  expect(await found(t, { payload: { order: 1 } })).toEqual([]);
});

test('an undeclared path is rejected with the command that declares it, without a search', async () => {
  const t = await testEngine();
  await t.register('mail');
  await t.trigger('mail', { metadata: { customer: 1 } });
  await expect(found(t, { metadata: { customer: 1 } })).rejects.toMatchObject({
    status: 400,
    message:
      'filter[metadata]: metadata.customer is not declared, so runs are not indexed by it. Declare it: millrace runs paths add metadata.customer',
  });
  expect(await t.sql`select from runs where path_facets is not null`).toHaveLength(0);
  expect(await t.sql`select from run_facets where facet like 'path:%'`).toHaveLength(0);
});

test('older runs are indexed in the background, once every process indexes its own', async () => {
  const t = await testEngine();
  await t.register('mail');
  const ids = [];
  for (let n = 0; n < 250; n++) ids.push((await t.trigger('mail', { metadata: { n } })).id);
  await declare(t, 'metadata.n', 'metadata.none');
  const keeper = pathKeeper(t.engine);
  expect(await keeper.tick()).toBe(false);
  t.engine.clock.shift(21_000);
  expect(await keeper.tick()).toBe(true);
  expect(await found(t, { metadata: { n: 249 } })).toEqual([ids[249]]);
  expect(await found(t, { metadata: { n: 3 } })).toEqual([]);
  while (await keeper.tick());
  expect(await found(t, { metadata: { n: 3 } })).toEqual([ids[3]]);
  expect(await t.sql`select from run_paths where backfilled_at is null`).toHaveLength(0);
  // The second time, nothing is written.
  await t.sql`update run_paths set backfilled_at = null, backfilled_from = null`;
  while (await keeper.tick());
  expect(await t.sql`select from runs where cardinality(path_facets) > 1`).toHaveLength(0);
});

test('runs are found by a part of their error text', async () => {
  const t = await testEngine();
  const { id: version } = await t.register('mail');
  await t.addRunner('r');
  for (const message of ['the disk is full', 'no route to host']) {
    await t.trigger('mail');
    const [attempt] = await t.claim('r', [version], 1);
    const error = { type: 'BUILT_IN_ERROR', name: 'Error', message, stackTrace: '' } as const;
    await t.end(attempt!, { kind: 'failed', status: 'FAILED', error });
  }
  const [full] = await t.sql<{ id: string }[]>`select id from runs where error ->> 'message' like '%disk%'`;
  expect(await found(t, { errorText: 'DISK is' })).toEqual([full?.id]);
  expect(await found(t, { errorText: 'nothing of this' })).toEqual([]);
});

test('paths that tasks name are declared once, up to the limit', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  const task = (...findBy: string[]) => ({ id: 'mail', filePath: 'a.ts', findBy });
  const declared = (...tasks: ReturnType<typeof task>[]) =>
    t.sql.begin((tx) => declareFindBy(tx, env, tasks, t.engine.clock.now()));
  await Promise.all([
    declared(task('payload.a', 'payload.b'), task('payload.a')),
    declared(task('payload.b')),
  ]);
  await declared(task());
  expect((await t.sql`select path from run_paths order by path`).map((row) => row['path'])).toEqual([
    'payload.a',
    'payload.b',
  ]);
  const many = Array.from({ length: 19 }, (_, n) => `payload.n${n}`);
  await expect(declared(task(...many))).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(/^findBy: an environment has at most 20 declared paths/),
  });
  expect(await t.sql`select from run_paths`).toHaveLength(2);
});

test('unreadable values have no facets', () => {
  const paths = [{ id: 1, path: 'payload.a.b' }];
  const of = (payload: string | null, payloadType: string | null = null) =>
    pathFacets(paths, { metadata: null, payload, payloadType });
  expect(of('{"a":{"b":1}}')).toEqual(['path:1:=1']);
  expect(of('{"json":{"a":{"b":1}}}', 'application/super+json')).toEqual(['path:1:=1']);
  expect(of('{"a":{"b":1}}', 'text/plain')).toEqual([]);
  expect(of('{"a":')).toEqual([]);
  expect(of('['.repeat(100_000))).toEqual([]);
  expect(of('{"a":{"b":"\\ud800"}}')).toEqual(['path:1:=\ufffd']);
  expect(of('{"a":{"toString":1}}')).toEqual([]);
  expect(of(null)).toEqual([]);
});
