import { expect, test } from 'vitest';
import { sharedInstallation } from './installation.ts';

test('an ended credential is rejected with the very next request by the process that ended it', async () => {
  const { ask, projectRef, keys } = await sharedInstallation();
  const project = `/api/v1/projects/${projectRef}`;
  const runs = async (key: string, branch?: string): Promise<number> =>
    (await ask('GET /api/v1/runs', { key, ...(branch && { headers: { 'x-service-branch': branch } }) }))
      .status;
  const create = async (name: string) => {
    const { id, key } = (await ask(`POST ${project}/prod/keys`, { body: { name } })).body as Record<
      'id' | 'key',
      string
    >;
    const body = { scopes: ['read:runs'] };
    const { token } = (await ask('POST /api/v1/auth/public-tokens', { key, body })).body as { token: string };
    expect([await runs(key), await runs(token)]).toEqual([200, 200]);
    return { id, key, token };
  };

  const revoked = await create('revoked');
  await ask(`POST ${project}/prod/keys/${revoked.id}/revoke`);
  expect([await runs(revoked.key), await runs(revoked.token)]).toEqual([401, 401]);

  const rotated = await create('rotated');
  await ask(`POST ${project}/prod/keys/${rotated.id}/rotate`, { body: { overlap: '0s' } });
  expect([await runs(rotated.key), await runs(rotated.token)]).toEqual([401, 401]);

  const access = (await ask('POST /api/v1/tokens', { body: { name: 'mine' } })).body as Record<
    'id' | 'token',
    string
  >;
  const variables = async () => (await ask(`GET ${project}/envvars/prod`, { key: access.token })).status;
  expect(await variables()).toBe(200);
  await ask(`POST /api/v1/tokens/${access.id}/revoke`);
  expect(await variables()).toBe(401);

  await ask(`POST ${project}/branches`, { body: { branch: 'b', env: 'preview' } });
  expect(await runs(keys.preview, 'b')).toBe(200);
  await ask(`POST ${project}/branches/archive`, { body: { branch: 'b', env: 'preview' } });
  expect(await runs(keys.preview, 'b')).toBe(401);

  const emptied = await create('in an environment that is deleted');
  expect(await runs(keys.stg)).toBe(200);
  await ask(`DELETE ${project}/stg?confirm=stg`);
  expect([await runs(keys.stg), await runs(emptied.key)]).toEqual([401, 200]);
});
