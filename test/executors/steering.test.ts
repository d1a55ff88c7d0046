import { describe, expect, test } from 'vitest';
import { installation, type Installation } from '../access/installation.ts';
import { startProject } from '../support/project.ts';

const code = '--import=data:text/javascript,globalThis.hacked=true';

/** Every way to write a variable. */
const writes = (
  at: string,
  env: string,
): readonly (readonly [what: string, request: string, body: unknown])[] => [
  ['create', `POST ${at}/envvars/${env}`, { name: 'NODE_OPTIONS', value: code }],
  ['create in other case', `POST ${at}/envvars/${env}`, { name: 'node_Options', value: code }],
  ['create LD_PRELOAD', `POST ${at}/envvars/${env}`, { name: 'LD_PRELOAD', value: '/tmp/evil.so' }],
  [
    'create TAR_OPTIONS',
    `POST ${at}/envvars/${env}`,
    { name: 'TAR_OPTIONS', value: '--checkpoint=1 --checkpoint-action=exec=id' },
  ],
  ['create PATH', `POST ${at}/envvars/${env}`, { name: 'PATH', value: '/tmp' }],
  ['update', `PUT ${at}/envvars/${env}/BASH_ENV`, { value: '/tmp/evil.sh' }],
  ['update by POST', `POST ${at}/envvars/${env}/BASH_ENV`, { value: '/tmp/evil.sh' }],
  ['delete', `DELETE ${at}/envvars/${env}/BASH_ENV`, undefined],
  [
    'import of an object',
    `POST ${at}/envvars/${env}/import`,
    { variables: { GOOD: '1', SSLKEYLOGFILE: '/tmp/keys' }, override: true },
  ],
  [
    'import of a list',
    `POST ${at}/envvars/${env}/import`,
    {
      variables: [
        { name: 'GOOD', value: '1' },
        { name: 'DYLD_INSERT_LIBRARIES', value: 'x' },
      ],
      override: true,
    },
  ],
  [
    'import of a file',
    `POST ${at}/envvars/${env}/import`,
    { variables: 'GOOD=1\nPYTHONSTARTUP=/tmp/evil.py\n', override: true },
  ],
];

const namesIn = async ({ sql }: Installation) =>
  (
    await sql<{ env: string; name: string }[]>`
    select e.kind || coalesce(':' || e.branch, '') as env, v.name from variables v join environments e on e.id = v.env order by 1, 2`
  ).map(({ env, name }) => `${env} ${name}`);

const revisionIn = async ({ sql }: Installation) =>
  (
    await sql<{ revision: number }[]>`select coalesce(max(revision), 0) as revision from variable_revisions`
  )[0]?.revision;

/** A form as browsers send it. */
async function sendForm(
  { server }: Installation,
  path: string,
  key: string,
): Promise<{ status: number; body: { variableErrors?: { key: string }[] } }> {
  const form = new FormData();
  form.set('override', 'true');
  form.set('variables', new Blob(['GOOD=1\nGIT_SSH_COMMAND=evil\n']), '.env');
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  return { status: response.status, body: (await response.json()) as { variableErrors?: { key: string }[] } };
}

describe('variables that control processes', () => {
  test('are rejected from all but admins, in every way to write variables', { timeout: 60_000 }, async () => {
    const all = await installation();
    const { ask, projectRef, token, keys } = all;
    const at = `/api/v1/projects/${projectRef}`;
    const keyOf = async (preset: string) =>
      (await ask(`POST ${at}/prod/keys`, { body: { name: preset, preset } })).body.key as string;
    const others = {
      'a variables-only key': await keyOf('variables-only'),
      'a member': (await all.userWith('member')).token,
    };
    const admins = {
      'a full key': keys.prod,
      'an owner': token,
      'an admin': (await all.userWith('admin')).token,
    };
    // It exists, set by an admin: it cannot be removed either.
    expect(
      (await ask(`POST ${at}/envvars/prod`, { body: { name: 'BASH_ENV', value: '/etc/profile' } })).status,
    ).toBe(200);
    const before = await revisionIn(all);
    for (const [who, key] of Object.entries(others)) {
      for (const [what, request, body] of writes(at, 'prod')) {
        const answer = await ask(request, { key, body });
        expect([who, what, answer.status]).toEqual([who, what, 403]);
        const named = answer.body.variableErrors.map((error: { key: string }) => error.key) as string[];
        expect(named).toHaveLength(1);
        expect(answer.body.error).toContain(named[0]);
      }
      const form = await sendForm(all, `${at}/envvars/prod/import`, key);
      expect([who, form.status, form.body.variableErrors?.[0]?.key]).toEqual([who, 403, 'GIT_SSH_COMMAND']);
      // Permitted operations still work.
      expect(
        (await ask(`POST ${at}/envvars/prod`, { key, body: { name: 'NODE_ENV', value: 'production' } }))
          .status,
      ).toBe(200);
    }
    expect(await namesIn(all)).toEqual(['prod BASH_ENV', 'prod NODE_ENV']);
    expect(await revisionIn(all)).toBe((before ?? 0) + 1);
    for (const [who, key] of Object.entries(admins))
      for (const [what, request, body] of writes(at, 'prod')) {
        if (what.startsWith('update') || what === 'delete')
          await ask(`POST ${at}/envvars/prod`, { key, body: { name: 'BASH_ENV', value: who } });
        expect([who, what, (await ask(request, { key, body })).status]).toEqual([who, what, 200]);
      }
  });

  test('are rejected for a parent and its branch before either is written', async () => {
    const all = await installation();
    const { ask, projectRef } = all;
    const at = `/api/v1/projects/${projectRef}`;
    const { token: key } = await all.userWith('member');
    await ask(`POST ${at}/branches`, { body: { branch: 'feat', env: 'preview' } });
    const headers = { 'x-service-branch': 'feat' };
    const inputs: readonly (readonly [object, object])[] = [
      [{ GOOD: '1' }, { NODE_OPTIONS: code }],
      [{ NODE_OPTIONS: code }, { GOOD: '1' }],
    ];
    for (const [variables, parentVariables] of inputs) {
      const body = { variables, parentVariables };
      const answer = await ask(`POST ${at}/envvars/preview/import`, { key, headers, body });
      expect(answer).toMatchObject({ status: 403, body: { variableErrors: [{ key: 'NODE_OPTIONS' }] } });
    }
    const alone = { name: 'LD_AUDIT', value: 'x' };
    expect((await ask(`POST ${at}/envvars/preview`, { key, headers, body: alone })).status).toBe(403);
    expect(await namesIn(all)).toEqual([]);
  });

  test('are not restored by a rollback, which may leave them unchanged', async () => {
    const all = await installation();
    const { ask, projectRef } = all;
    const at = `/api/v1/projects/${projectRef}`;
    const { token: key } = await all.userWith('member');
    const set = (name: string, value: string) => ask(`POST ${at}/envvars/prod`, { body: { name, value } });
    await set('A', '1');
    await set('NODE_OPTIONS', code);
    await set('A', '2');
    await ask(`DELETE ${at}/envvars/prod/NODE_OPTIONS`);
    const back = (revision: number) =>
      ask(`POST ${at}/envvar-revisions/prod/rollback`, { key, body: { revision } });
    expect(await back(2)).toMatchObject({ status: 403, body: { variableErrors: [{ key: 'NODE_OPTIONS' }] } });
    expect((await ask(`GET ${at}/envvars/prod`)).body).toMatchObject([{ name: 'A', value: '2' }]);
    expect((await back(1)).status).toBe(200);
    // An admin has set it again: a caller that may not set it may roll back other variables.
    await set('NODE_OPTIONS', code);
    await set('A', '3');
    expect((await back(6)).status).toBe(200);
    expect((await ask(`GET ${at}/envvars/prod`)).body).toMatchObject([
      { name: 'A', value: '1' },
      { name: 'NODE_OPTIONS' },
    ]);
    expect((await back(1)).status).toBe(403);
  });
});

test('a stored one runs no code in the next run', { timeout: 60_000 }, async () => {
  const all = await installation();
  const { ask, server, keys, projectRef } = all;
  // Set by an admin, or before such names were rejected.
  const body = { name: 'NODE_OPTIONS', value: code };
  expect(
    (await ask(`POST /api/v1/projects/${projectRef}/envvars/prod`, { key: keys.prod, body })).status,
  ).toBe(200);
  const file = `import { task } from '@millrace/sdk';
export const looks = task({ id: 'looks', run: async () => ({ hacked: Boolean((globalThis as any).hacked), options: process.env.NODE_OPTIONS }) });`;
  await startProject({ url: server.url, keys }, { 'tasks/looks.ts': file });
  const { id } = (await ask('POST /api/v1/tasks/looks/trigger', { key: keys.prod, body: {} })).body;
  await expect
    .poll(async () => (await ask(`GET /api/v3/runs/${id}`, { key: keys.prod })).body.output, {
      timeout: 20_000,
    })
    .toEqual({ hacked: false, options: code });
});
