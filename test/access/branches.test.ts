import { describe, expect, test } from 'vitest';
import { newBranchName } from '../../packages/server/src/tenancy/branches.ts';
import { sharedInstallation } from './installation.ts';

describe('branches', () => {
  test('are created, targeted by a header, listed and archived', async () => {
    const { ask, keys, projectRef } = await sharedInstallation();
    const at = `/api/v1/projects/${projectRef}/branches`;
    const inBranch = (branch: string, key = keys.preview) =>
      ask('GET /api/v1/whoami', { key, headers: { 'x-service-branch': branch } });
    expect((await inBranch('feat/x')).status).toBe(401);
    // The key itself is known, so that CI can request its project before a branch exists. Everything else needs one.
    expect((await ask('GET /api/v1/whoami', { key: keys.preview })).status).toBe(200);
    expect((await ask('GET /api/v1/runs', { key: keys.preview })).status).toBe(401);
    const created = await ask(`POST ${at}`, {
      body: { branch: 'refs/heads/feat/x', git: { commitSha: 'abc' } },
    });
    expect(created.status).toBe(200);
    expect((await ask(`POST ${at}`, { body: { branch: 'feat/x' } })).body).toEqual(created.body);
    expect((await inBranch('feat/x')).body.environment).toEqual({
      id: created.body.id,
      name: 'preview',
      branch: 'feat/x',
    });
    expect(
      (
        await ask('GET /api/v1/whoami', {
          key: keys.preview,
          headers: { 'x-trigger-branch': 'refs/heads/feat/x' },
        })
      ).body.environment.id,
    ).toBe(created.body.id);
    expect((await inBranch('feat/x', keys.prod)).body.environment).toMatchObject({ name: 'prod' });
    expect((await ask(`GET ${at}`)).body.branches).toMatchObject([
      { name: 'feat/x', env: 'preview', git: { commitSha: 'abc' }, isPaused: false },
    ]);
    expect((await ask(`GET /api/v1/projects/${projectRef}/environments`)).body.at(-1)).toMatchObject({
      slug: 'preview-feat-x',
      branchName: 'feat/x',
    });

    expect((await ask(`POST ${at}/archive`, { body: { branch: 'feat/x' } })).status).toBe(200);
    expect((await ask(`POST ${at}/archive`, { body: { branch: 'feat/x' } })).status).toBe(404);
    await expect.poll(async () => (await inBranch('feat/x')).status).toBe(401);
    const again = await ask(`POST ${at}`, { body: { branch: 'feat/x' } });
    expect(again.body.id).not.toBe(created.body.id);
    expect((await inBranch('feat/x')).body.environment.id).toBe(again.body.id);
    const archived = await Promise.all(
      [1, 2, 3].map(() => ask(`POST ${at}/archive`, { body: { branch: 'feat/x' } })),
    );
    expect(archived.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404]);
  });

  test('of dev are created by users only, of preview also by its keys', async () => {
    const { ask, keys, keyWith, projectRef } = await sharedInstallation();
    const at = `POST /api/v1/projects/${projectRef}/branches`;
    const deploy = await keyWith(['read:branches', 'write:branches'], 'preview');
    expect((await ask(at, { key: deploy, body: { branch: 'by-key' } })).status).toBe(200);
    expect((await ask(at, { key: deploy, body: { branch: 'x', env: 'development' } })).status).toBe(403);
    expect((await ask(at, { key: keys.prod, body: { branch: 'x' } })).status).toBe(403);
    expect(
      (await ask(at, { key: await keyWith(['read:runs'], 'preview'), body: { branch: 'x' } })).status,
    ).toBe(403);
    expect(
      (await ask('POST /api/v1/projects/proj_unknown/branches', { key: deploy, body: { branch: 'x' } }))
        .status,
    ).toBe(404);
    expect((await ask(at, { body: { branch: 'mine', env: 'development' } })).status).toBe(200);
    const dev = (branch?: string) =>
      ask('GET /api/v1/whoami', {
        key: keys.dev,
        ...(branch !== undefined && { headers: { 'x-trigger-branch': branch } }),
      });
    expect((await dev('mine')).body.environment.branch).toBe('mine');
    for (const branch of [undefined, 'default'])
      expect((await dev(branch)).body.environment).not.toHaveProperty('branch');
    expect((await dev('other')).status).toBe(401);
  });

  test.each([
    'a b',
    'a~b',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    'a\u0007',
    'a..b',
    'a//b',
    'a@{b',
    '/a',
    'a/',
    'a.lock',
    'refs/x/y',
    'ä',
  ])('cannot be named %j', (branch) => {
    expect(() => newBranchName(branch, 'preview')).toThrow(/^branch: /);
  });
});
