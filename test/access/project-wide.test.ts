import { expect, test } from 'vitest';
import { sharedInstallation, installation } from './installation.ts';

test('only members and keys of prod and dev change the rules by which a project groups its errors', async () => {
  const { ask, keys, keyWith, projectRef, sql, userWith, token } = await installation();
  const at = `/api/v1/projects/${projectRef}/error-rules`;
  const rule = { message: 'secret*', groupKey: 'g' };
  await ask(`POST /api/v1/projects/${projectRef}/branches`, { body: { branch: 'b' } });
  const { body: created } = await ask(`POST ${at}`, { key: keys.prod, body: rule });
  const rules = () => sql`select * from error_rules order by id`;
  const before = [...(await rules())];
  for (const kind of ['stg', 'preview'] as const) {
    const headers: Record<string, string> = kind === 'preview' ? { 'x-service-branch': 'b' } : {};
    for (const key of [keys[kind], await keyWith(['read:errors', 'write:errors'], kind)]) {
      for (const [request, body] of [
        [`POST ${at}`, rule],
        [`PATCH ${at}/${created.id}`, { groupKey: 'mine' }],
        [`DELETE ${at}/${created.id}`, undefined],
      ] as const) {
        expect([kind, request, (await ask(request, { key, body, headers })).status]).toEqual([
          kind,
          request,
          403,
        ]);
      }
      expect((await ask(`GET ${at}`, { key, headers })).body.data).toHaveLength(1);
      expect(
        (await ask(`POST ${at}/preview`, { key, headers, body: { message: '*', groupKey: 'g' } })).status,
      ).toBe(200);
    }
  }
  expect([...(await rules())]).toEqual(before);
  const dev = { key: keys.dev, body: { groupKey: 'of dev' } };
  expect((await ask(`PATCH ${at}/${created.id}`, dev)).status).toBe(200);
  const prod = await keyWith(['write:errors']);
  expect((await ask(`PATCH ${at}/${created.id}`, { key: prod, body: { groupKey: 'mine' } })).status).toBe(
    200,
  );
  const { token: member } = await userWith('member');
  expect((await ask(`PATCH ${at}/${created.id}`, { key: member, body: { groupKey: 'ours' } })).status).toBe(
    200,
  );
  expect((await ask(`DELETE ${at}/${created.id}`, { key: token })).status).toBe(200);
});

test('only preview keys and users see and change branches', async () => {
  const { ask, keys, projectRef } = await sharedInstallation();
  const at = `/api/v1/projects/${projectRef}/branches`;
  const statuses = async (key: string) => [
    (await ask(`POST ${at}`, { key, body: { branch: 'b' } })).status,
    (await ask(`GET ${at}`, { key })).status,
    (await ask(`POST ${at}/archive`, { key, body: { branch: 'b' } })).status,
  ];
  for (const kind of ['prod', 'stg', 'dev'] as const)
    expect(await statuses(keys[kind])).toEqual([403, 403, 403]);
  expect(await statuses(keys.preview)).toEqual([200, 200, 200]);
});
