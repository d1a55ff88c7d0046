import { describe, expect, test } from 'vitest';
import { variableServer, startVariableServer, dump, type VariableServer } from './testing/variable-server.ts';

const set = async ({ call }: VariableServer, name: string, value: string, isSecret?: boolean) =>
  expect((await call('POST', 'envvars/prod', { body: { name, value, isSecret } })).status).toBe(200);
const revisions = async ({ call }: VariableServer, query = '') =>
  (await call('GET', `envvar-revisions/prod${query}`)).body as {
    data: { revision: number; changes: object[] }[];
    pagination: { next?: string };
  };
const list = async ({ call }: VariableServer) => (await call('GET', 'envvars/prod')).body;

test('every change is a revision with its author, time and names, and never a value', async () => {
  const served = await startVariableServer();
  await set(served, 'A', 'first value');
  await set(served, 'A', 'second value', true);
  await served.call('POST', 'envvars/prod/import', {
    as: served.pat,
    body: { variables: { B: '1', A: 'third value' }, override: true, source: { type: 'user', userId: 'u1' } },
  });
  await served.call('DELETE', 'envvars/prod/A');
  const { data } = await revisions(served);
  expect(data).toMatchObject([
    { revision: 4, act: 'delete', changes: [{ name: 'A', change: 'removed', isSecret: true }] },
    {
      revision: 3,
      act: 'import',
      userId: expect.stringMatching(/^user_/) as string,
      credentialId: expect.stringMatching(/^pat_/) as string,
      source: { type: 'user', userId: 'u1' },
      changes: [
        { name: 'A', change: 'changed', isSecret: true },
        { name: 'B', change: 'added', isSecret: false },
      ],
    },
    { revision: 2, act: 'set', changes: [{ name: 'A', change: 'changed', isSecret: true }] },
    {
      revision: 1,
      act: 'set',
      at: expect.stringMatching(/Z$/) as string,
      credentialId: expect.stringMatching(/^key_/) as string,
    },
  ]);
  expect(data[3]).not.toHaveProperty('userId');
  expect(JSON.stringify(data)).not.toContain('value"');
  expect(await dump(served.sql)).not.toMatch(/(?:first|second|third) value/);
});

test('a change without effect creates no revision', async () => {
  const served = await variableServer();
  await set(served, 'A', '1');
  await set(served, 'A', '1');
  await set(served, 'A', '1', false);
  expect((await revisions(served)).data).toHaveLength(1);
});

test('the history is read in pages', async () => {
  const served = await variableServer();
  for (const value of ['1', '2', '3', '4', '5']) await set(served, 'A', value);
  const first = await revisions(served, '?page[size]=2');
  const second = await revisions(served, `?page[size]=2&page[after]=${first.pagination.next}`);
  const last = await revisions(served, `?page[size]=2&page[after]=${second.pagination.next}`);
  expect([first, second, last].map(({ data }) => data.map(({ revision }) => revision))).toEqual([
    [5, 4],
    [3, 2],
    [1],
  ]);
  expect(last.pagination).toEqual({});
});

test.each(['?page[after]=2147483648', '?page[after]=', '/diff?from=2147483648'])(
  'an impossible revision is a 400: %s',
  async (query) => {
    const { call } = await variableServer();
    const refused = await call('GET', `envvar-revisions/prod${query}`);
    expect(refused).toMatchObject({ status: 400, body: { error: 'Query Error' } });
  },
);

describe('two revisions', () => {
  test('are compared including values, except those that were secret on either side', async () => {
    const served = await variableServer();
    await served.call('POST', 'envvars/prod/import', {
      body: { variables: { A: '1', B: '1', C: '1', D: '1' } },
    });
    await set(served, 'A', '2');
    await set(served, 'B', '2', true);
    await set(served, 'E', '1');
    await served.call('DELETE', 'envvars/prod/C');
    const diff = async (query: string) => served.call('GET', `envvar-revisions/prod/diff?${query}`);
    expect((await diff('from=1')).body).toEqual({
      from: 1,
      to: 5,
      changes: [
        { name: 'A', change: 'changed', isSecret: false, from: '1', to: '2' },
        { name: 'B', change: 'changed', isSecret: true, from: '<redacted>', to: '<redacted>' },
        { name: 'C', change: 'removed', isSecret: false, from: '1' },
        { name: 'E', change: 'added', isSecret: false, to: '1' },
      ],
    });
    expect((await diff('from=2&to=2')).body).toEqual({ from: 2, to: 2, changes: [] });
    expect((await diff('from=0&to=1')).body).toMatchObject({ changes: [{ change: 'added' }, {}, {}, {}] });
    expect((await diff('from=1&to=6')).status).toBe(404);
    for (const wrong of ['from=x', 'from=', 'from=&to=1', 'from=1&to=', 'from=%20']) {
      expect([wrong, (await diff(wrong)).status]).toEqual([wrong, 400]);
    }
    expect((await diff('')).status).toBe(400);
  });

  test('are rolled back from one to the other, with values and flags, as a new revision', async () => {
    const served = await variableServer();
    await set(served, 'A', '1', true);
    await set(served, 'B', '1');
    const before = await served.call('GET', 'envvars');
    await set(served, 'A', '2', false);
    await served.call('DELETE', 'envvars/prod/B');
    await set(served, 'C', '1');
    const rollBack = (revision: number) =>
      served.call('POST', 'envvar-revisions/prod/rollback', { body: { revision } });
    expect(await rollBack(2)).toEqual({
      status: 200,
      body: {
        success: true,
        revision: 6,
        changes: [
          { name: 'A', change: 'changed', isSecret: true },
          { name: 'B', change: 'added', isSecret: false },
          { name: 'C', change: 'removed', isSecret: false },
        ],
      },
    });
    expect(await list(served)).toEqual([
      { name: 'A', value: '<redacted>', isSecret: true },
      { name: 'B', value: '1', isSecret: false },
    ]);
    const after = await served.call('GET', 'envvars');
    expect(after.body).toEqual({ ...(before.body as object), revision: 6 });
    expect((await revisions(served)).data[0]).toMatchObject({ act: 'rollback', restored: 2 });
    expect(await rollBack(6)).toMatchObject({ body: { revision: 6, changes: [] } });
    expect((await rollBack(99)).status).toBe(404);
  });
});

test('a branch has its own history, and shares a counter with its parent', async () => {
  const served = await variableServer();
  await served.addBranch('preview', 'x');
  const branch = { as: served.key('preview'), branch: 'x' };
  const parent = { as: served.pat };
  await served.call('POST', 'envvars/preview', { ...parent, body: { name: 'A', value: '1' } });
  await served.call('POST', 'envvars/preview', { ...branch, body: { name: 'A', value: '2' } });
  await served.call('POST', 'envvars/preview', { ...parent, body: { name: 'B', value: '3' } });
  const numbers = async (options: object) =>
    (
      (await served.call('GET', 'envvar-revisions/preview', options)).body as { data: { revision: number }[] }
    ).data.map(({ revision }) => revision);
  expect([await numbers(parent), await numbers(branch)]).toEqual([[3, 1], [2]]);
  await served.call('POST', 'envvar-revisions/preview/rollback', { ...branch, body: { revision: 1 } });
  expect((await served.call('GET', 'envvars/preview', branch)).body).toMatchObject([
    { value: '1' },
    { value: '3' },
  ]);
});

test('old revisions are pruned, except those that later states need', async () => {
  const served = await startVariableServer();
  await set(served, 'OLD', 'kept');
  await set(served, 'GONE', '1');
  await served.call('DELETE', 'envvars/prod/GONE');
  await served.sql`update variable_sets set revision = 1098`;
  await set(served, 'A', '1');
  await set(served, 'A', '2');
  const { data } = await revisions(served);
  expect(data.map(({ revision }) => revision)).toEqual([1100, 1099]);
  const remaining = await served.sql`select name, revision from variable_changes order by 2`;
  expect([...remaining]).toEqual([
    { name: 'OLD', revision: 1 },
    { name: 'A', revision: 1099 },
    { name: 'A', revision: 1100 },
  ]);
  const rolled = await served.call('POST', 'envvar-revisions/prod/rollback', { body: { revision: 1099 } });
  expect(rolled.status).toBe(200);
  expect(await list(served)).toMatchObject([
    { name: 'A', value: '1' },
    { name: 'OLD', value: 'kept' },
  ]);
  expect(
    (await served.call('POST', 'envvar-revisions/prod/rollback', { body: { revision: 50 } })).status,
  ).toBe(404);
});

test('concurrent changes are serialized: no revision is lost or duplicated', async () => {
  const served = await startVariableServer();
  await Promise.all(Array.from({ length: 20 }, (_, at) => set(served, `V${at % 5}`, String(at))));
  const rows = await served.sql<{ revision: number }[]>`select revision from variable_revisions order by 1`;
  expect(rows.map(({ revision }) => revision)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
});
