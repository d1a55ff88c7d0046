import { describe, expect, test } from 'vitest';
import { variableServer, startVariableServer, type VariableServer } from './testing/variable-server.ts';

const ok = { status: 200, body: { success: true } };
const variable = (name: string, value: string, isSecret = false) => ({ name, value, isSecret });
const notFound = { status: 404, body: { error: 'Environment variable not found' } };

const set = (served: VariableServer, name: string, value: string, more: object = {}, options: object = {}) =>
  served.call('POST', 'envvars/prod', { body: { name, value, ...more }, ...options });

describe('one variable', () => {
  test('is created, listed, retrieved, updated and deleted', async () => {
    const served = await variableServer();
    const { call } = served;
    expect(await call('GET', 'envvars/prod')).toEqual({ status: 200, body: [] });
    expect(await set(served, 'B', '2')).toEqual(ok);
    expect(await set(served, 'A', 'line 1\nline "2" = é')).toEqual(ok);
    expect(await call('GET', 'envvars/prod')).toEqual({
      status: 200,
      body: [variable('A', 'line 1\nline "2" = é'), variable('B', '2')],
    });
    expect(await call('GET', 'envvars/prod/B')).toEqual({ status: 200, body: variable('B', '2') });
    expect(await call('PUT', 'envvars/prod/B', { body: { value: '3' } })).toEqual(ok);
    expect(await call('POST', 'envvars/prod/B', { body: { value: '4' } })).toEqual(ok);
    expect(await call('GET', 'envvars/prod/B')).toEqual({ status: 200, body: variable('B', '4') });
    expect(await call('DELETE', 'envvars/prod/B')).toEqual(ok);
    expect(await call('GET', 'envvars/prod/B')).toEqual(notFound);
    expect(await call('DELETE', 'envvars/prod/B')).toEqual(notFound);
  });

  test('can replace an existing one, and changes its flag only on request', async () => {
    const served = await variableServer();
    await set(served, 'A', '1', { isSecret: true });
    await set(served, 'A', '2');
    expect((await served.call('GET', 'envvars/prod/A')).body).toEqual(variable('A', '<redacted>', true));
    await set(served, 'A', '3', { isSecret: false });
    expect((await served.call('GET', 'envvars/prod/A')).body).toEqual(variable('A', '3'));
  });

  test('is updated if any environment of the project has it', async () => {
    const served = await variableServer();
    const { call, key } = served;
    await set(served, 'A', '1', { isSecret: true });
    const stg = { as: key('stg') };
    expect(await call('PUT', 'envvars/stg/B', { ...stg, body: { value: '1' } })).toEqual(notFound);
    expect(await call('PUT', 'envvars/staging/A', { ...stg, body: { value: '2' } })).toEqual(ok);
    expect((await call('GET', 'envvars/stg', stg)).body).toEqual([variable('A', '2')]);
    await call('PUT', 'envvars/prod/A', { body: { value: 'new' } });
    expect((await call('GET', 'envvars/prod/A')).body).toEqual(variable('A', '<redacted>', true));
  });
});

describe.each([
  ['the empty string', ''],
  ['whitespace', ' \t\r\n '],
])('a value that is %s', (_, blank) => {
  test('is stored unchanged by every way of setting it', async () => {
    const served = await variableServer();
    const { call } = served;
    const names = ['CREATED', 'OVERWRITTEN', 'UPDATED', 'POSTED', 'IMPORTED'];
    for (const name of names.slice(1)) await set(served, name, 'old');
    for (const name of names.slice(0, 2)) expect(await set(served, name, blank)).toEqual(ok);
    expect(await call('PUT', 'envvars/prod/UPDATED', { body: { value: blank } })).toEqual(ok);
    expect(await call('POST', 'envvars/prod/POSTED', { body: { value: blank } })).toEqual(ok);
    const body = { variables: { IMPORTED: blank, NEW: blank } };
    expect((await call('POST', 'envvars/prod/import', { body })).status).toBe(400);
    expect(await call('POST', 'envvars/prod/import', { body: { ...body, override: true } })).toEqual(ok);
    const stored = Object.fromEntries([...names, 'NEW'].map((name) => [name, blank]));
    expect((await call('GET', 'envvars')).body).toMatchObject({ variables: stored });
    expect((await call('GET', 'envvars/prod/UPDATED')).body).toEqual(variable('UPDATED', blank));
  });

  test("overrides the parent's value on a branch, and survives a rollback", async () => {
    const { call, key, pat, addBranch } = await variableServer();
    await addBranch('preview', 'b');
    const own = { as: key('preview'), branch: 'b' };
    await call('POST', 'envvars/preview', { as: pat, body: { name: 'A', value: 'parent' } });
    await call('POST', 'envvars/preview', { ...own, body: { name: 'A', value: blank } });
    expect((await call('GET', 'envvars/preview/A', own)).body).toEqual({
      ...variable('A', blank),
      isInherited: false,
    });
    expect((await call('GET', 'envvars', own)).body).toEqual({ variables: { A: blank }, revision: 2 });
    await call('PUT', 'envvars/preview/A', { ...own, body: { value: 'later' } });
    const revisions = (path: string) => `envvar-revisions/preview${path}`;
    expect((await call('GET', revisions('/diff?from=2&to=3'), own)).body).toMatchObject({
      changes: [{ name: 'A', from: blank, to: 'later' }],
    });
    await call('POST', revisions('/rollback'), { ...own, body: { revision: 2 } });
    expect((await call('GET', 'envvars', own)).body).toMatchObject({ variables: { A: blank } });
  });
});

describe('invalid input', () => {
  test.each([
    ['a leading digit', '1A', 'v'],
    ['a dash', 'A-B', 'v'],
    ['a space', 'A B', 'v'],
    ['a letter of another alphabet', 'É', 'v'],
    ['a line break', 'A\n', 'v'],
    ['300 characters', 'A'.repeat(300), 'v'],
    ['a reserved prefix', 'MILLRACE_SECRET_KEY', 'v'],
    ["the other SDK's reserved names", 'TRIGGER_SECRET_KEY', 'v'],
    ['a name that objects cannot store', '__proto__', 'v'],
    ['a NUL', 'A', 'a\0b'],
    ['half of a surrogate pair', 'A', '\uD800'],
    ['a value that is too long', 'A', 'x'.repeat(200_000)],
  ])('%s is a 400 that names the variable and writes nothing', async (_, name, value) => {
    const served = await variableServer();
    const refused = await set(served, name, value);
    expect(refused).toMatchObject({
      status: 400,
      body: { variableErrors: [{ key: name.slice(0, 255), error: expect.any(String) as string }] },
    });
    expect((await served.call('GET', 'envvars/prod')).body).toEqual([]);
    if (value.length > 1) expect(JSON.stringify(refused.body)).not.toContain(value.slice(0, 3));
  });

  test.each([
    ['an empty name', { name: '', value: 'v' }, 'You must set at least one valid variable.'],
    ['a blank name', { name: ' ', value: 'v' }, 'You must set at least one valid variable.'],
    ['a value that is not a string', { name: 'A', value: 1 }, /value/],
    ['no body', undefined, 'Request body is empty'],
  ])('%s is a 400', async (_, body, error) => {
    const { call } = await variableServer();
    const refused = await call('POST', 'envvars/prod', { body });
    expect(refused.status).toBe(400);
    expect((refused.body as { error: string }).error).toMatch(error);
  });

  test('may have the name of a path segment', async () => {
    const served = await variableServer();
    await set(served, 'import', 'v');
    const at = 'envvars/prod/import';
    expect((await served.call('GET', at)).body).toEqual({ name: 'import', value: 'v', isSecret: false });
    expect((await served.call('PUT', at, { body: { value: 'w' } })).status).toBe(200);
    expect((await served.call('GET', at)).body).toMatchObject({ value: 'w' });
    expect((await served.call('DELETE', at)).status).toBe(200);
    expect((await served.call('GET', at)).status).toBe(404);
  });

  test('rejects a value of 1 MB and reports its size, and stores one that fits into a process byte for byte', async () => {
    const served = await variableServer();
    const big = await set(served, 'BIG', 'x'.repeat(1_000_000));
    expect(JSON.stringify(big)).toContain('1000000 bytes');
    const largest = 'é'.repeat(64_000);
    expect(await set(served, 'MOST', largest)).toEqual(ok);
    expect((await served.call('GET', 'envvars/prod/MOST')).body).toEqual(variable('MOST', largest));
  });

  test('rejects variables that together exceed the limit of a process', async () => {
    const { call } = await variableServer();
    const variables = Object.fromEntries(
      Array.from({ length: 7 }, (_, at) => [`V${at}`, 'x'.repeat(120_000)]),
    );
    const refused = await call('POST', 'envvars/prod/import', { body: { variables } });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('750000') as string },
    });
    expect((await call('GET', 'envvars/prod')).body).toEqual([]);
  });

  test('a key for another project or environment is a 400, in any spelling', async () => {
    const { call, key, ref } = await variableServer();
    for (const env of ['prod', 'production']) expect((await call('GET', `envvars/${env}`)).status).toBe(200);
    for (const env of ['stg', 'staging', 'dev', 'development', 'preview', 'Prod', 'nowhere'])
      expect((await call('GET', `envvars/${env}`)).status).toBe(400);
    for (const env of ['dev', 'development'])
      expect((await call('GET', `envvars/${env}`, { as: key('dev') })).status).toBe(200);
    expect((await call('GET', '/api/v1/projects/proj_other/envvars/prod')).status).toBe(400);
    expect((await call('GET', '/api/v1/projects/proj_other/envvars')).status).toBe(400);
    expect((await call('GET', `/api/v1/projects/${ref}/envvars`)).status).toBe(200);
  });
});

describe('a personal access token', () => {
  test('has access to every environment of its projects and no others', async () => {
    const { call, pat, sql } = await startVariableServer();
    const as = pat;
    for (const env of ['dev', 'development', 'stg', 'staging', 'prod', 'production', 'preview'])
      expect(await call('POST', `envvars/${env}`, { as, body: { name: 'A', value: env } })).toEqual(ok);
    expect((await call('GET', 'envvars/stg', { as })).body).toEqual([variable('A', 'staging')]);
    expect(await call('GET', 'envvars/nowhere', { as })).toEqual({
      status: 404,
      body: { error: 'Environment not found' },
    });
    const unknown = await call('GET', '/api/v1/projects/proj_unknown/envvars/prod', { as });
    expect(unknown).toEqual({ status: 404, body: { error: 'Project not found' } });
    await sql`insert into organizations (id, name) values ('org_x', 'Others')`;
    await sql`insert into projects (ref, organization_id, name) values ('proj_others', 'org_x', 'Others')`;
    expect(await call('GET', '/api/v1/projects/proj_others/envvars/prod', { as })).toEqual(unknown);
    await sql`delete from memberships`;
    expect(await call('GET', 'envvars/prod', { as })).toEqual(unknown);
  });

  test('of a viewer writes nothing', async () => {
    const { call, pat, sql } = await startVariableServer();
    await sql`update memberships set role = 'viewer'`;
    expect((await call('GET', 'envvars/prod', { as: pat })).status).toBe(200);
    expect((await call('POST', 'envvars/prod', { as: pat, body: { name: 'A', value: '1' } })).status).toBe(
      403,
    );
  });

  test('does not read all values at once', async () => {
    const { call, pat } = await variableServer();
    expect((await call('GET', 'envvars', { as: pat })).status).toBe(401);
  });

  test('selects a branch by header, in environments with branches, or by its slug', async () => {
    const { call, pat: as, addBranch } = await variableServer();
    await addBranch('preview', 'feat/x');
    await addBranch('dev', 'mine');
    const body = (value: string) => ({ as, body: { name: 'A', value } });
    expect(await call('POST', 'envvars/preview', { ...body('branch'), branch: 'feat/x' })).toEqual(ok);
    expect(await call('POST', 'envvars/dev', { ...body('mine'), branch: 'refs/heads/mine' })).toEqual(ok);
    expect(await call('POST', 'envvars/prod', { ...body('prod'), branch: 'feat/x' })).toEqual(ok);
    expect((await call('GET', 'envvars/preview', { as })).body).toEqual([]);
    expect((await call('GET', 'envvars/preview-feat-x', { as })).body).toEqual([
      { ...variable('A', 'branch'), isInherited: false },
    ]);
    expect((await call('GET', 'envvars/dev', { as, branch: 'default' })).body).toEqual([]);
    expect((await call('GET', 'envvars/prod', { as })).body).toEqual([variable('A', 'prod')]);
    expect(await call('GET', 'envvars/preview', { as, branch: 'gone' })).toEqual({
      status: 404,
      body: { error: 'Branch not found' },
    });
    await addBranch('preview', 'feat-x');
    expect((await call('GET', 'envvars/preview-feat-x', { as })).status).toBe(400);
  });
});

test('a restricted key is limited to its scopes', async () => {
  const { call, addKey } = await variableServer();
  const can = async (...scopes: string[]) => {
    const as = await addKey('dev', scopes);
    const body = { name: 'A', value: '1' };
    return [
      (await call('GET', 'envvars/dev', { as })).status,
      (await call('POST', 'envvars/dev', { as, body })).status,
    ];
  };
  expect(await can('read:envvars')).toEqual([200, 403]);
  expect(await can('write:envvars')).toEqual([403, 200]);
  expect(await can('read:runs')).toEqual([403, 403]);
});

describe('a branch', () => {
  const branch = 'feat/x';
  async function branched() {
    const served = await variableServer();
    await served.addBranch('preview', branch);
    const { call, pat } = served;
    const parent = { as: pat };
    const own = { as: served.key('preview'), branch };
    for (const [name, isSecret] of [
      ['PLAIN', false],
      ['SECRET', true],
    ])
      await call('POST', 'envvars/preview', { ...parent, body: { name, value: 'parent', isSecret } });
    return { ...served, parent, own };
  }

  test('inherits, overrides, and shows the value of the parent again after a delete', async () => {
    const { call, parent, own } = await branched();
    const inherited = [variable('PLAIN', 'parent'), variable('SECRET', '<redacted>', true)].map((entry) => ({
      ...entry,
      isInherited: true,
    }));
    expect((await call('GET', 'envvars/preview', own)).body).toEqual(inherited);
    await call('POST', 'envvars/preview', { ...own, body: { name: 'PLAIN', value: 'branch' } });
    expect((await call('GET', 'envvars/preview/PLAIN', own)).body).toEqual({
      ...variable('PLAIN', 'branch'),
      isInherited: false,
    });
    expect((await call('GET', 'envvars/preview/PLAIN', parent)).body).toEqual(variable('PLAIN', 'parent'));
    expect(await call('DELETE', 'envvars/preview/PLAIN', own)).toEqual(ok);
    expect((await call('GET', 'envvars/preview', own)).body).toEqual(inherited);
    expect((await call('DELETE', 'envvars/preview/PLAIN', own)).status).toBe(400);
    expect(await call('DELETE', 'envvars/preview/OTHER', own)).toEqual(notFound);
  });

  test('does not show the value of a name that is secret on either side', async () => {
    const { call, own } = await branched();
    await call('POST', 'envvars/preview', { ...own, body: { name: 'SECRET', value: 'mine' } });
    await call('POST', 'envvars/preview', { ...own, body: { name: 'PLAIN', value: 'mine', isSecret: true } });
    expect((await call('GET', 'envvars/preview', own)).body).toEqual([
      { ...variable('PLAIN', '<redacted>', true), isInherited: false },
      { ...variable('SECRET', '<redacted>', true), isInherited: false },
    ]);
  });

  test("uses the parent's flag in an import, and the import may set the parent too", async () => {
    const { call, own, parent, ref, sql } = await branched();
    const body = { variables: { SECRET: 'b', NEW: 'b' }, parentVariables: { UP: 'p' } };
    expect(await call('POST', 'envvars/preview/import', { ...own, body })).toEqual(ok);
    const flags = await sql`
      select v.name, v.is_secret from variables v join environments e on e.id = v.env join projects p on p.id = e.project_id
       where e.branch is not null and p.ref = ${ref} order by 1`;
    expect([...flags]).toEqual([
      { name: 'NEW', is_secret: false },
      { name: 'SECRET', is_secret: true },
    ]);
    expect((await call('GET', 'envvars/preview/UP', parent)).body).toEqual(variable('UP', 'p'));
    // Now the branch's part fails, but not the parent's.
    const half = { variables: { NEW: 'c' }, parentVariables: { UP2: 'p' } };
    expect(await call('POST', 'envvars/preview/import', { ...own, body: half })).toEqual(ok);
    expect((await call('GET', 'envvars/preview/NEW', own)).body).toMatchObject(variable('NEW', 'b'));
    const none = await call('POST', 'envvars/preview/import', { ...own, body: half });
    expect(none).toMatchObject({ status: 400, body: { variableErrors: [{ key: 'NEW' }] } });
  });

  test('is required for a preview key', async () => {
    const { call, key } = await branched();
    expect((await call('GET', 'envvars/preview', { as: key('preview') })).status).toBe(401);
    expect((await call('GET', 'envvars/preview', { as: key('preview'), branch: 'gone' })).status).toBe(401);
  });

  test('is read with all values by programs', async () => {
    const { call, own } = await branched();
    await call('POST', 'envvars/preview', { ...own, body: { name: 'PLAIN', value: 'branch' } });
    expect(await call('GET', 'envvars', own)).toEqual({
      status: 200,
      body: { variables: { PLAIN: 'branch', SECRET: 'parent' }, revision: 3 },
    });
  });
});
