import { describe, expect, test } from 'vitest';
import { sharedInstallation, installation } from './installation.ts';
import { promote } from '../support/promote.ts';

interface ListedEnvironment {
  readonly id: string;
  readonly slug: string;
  readonly paused: boolean;
}

describe('dev', () => {
  test('is private to each member, with keys, branches, variables and runs that no other user sees', async () => {
    const { ask, userWith, projectRef, keys, token } = await sharedInstallation();
    const at = `/api/v1/projects/${projectRef}`;
    const [ann, bob] = [await userWith('member'), await userWith('admin')];
    const idOf = async (key: string) =>
      (await ask(`GET ${at}/development`, { key })).body as { id: string; apiKey: string };
    const [owners, anns, bobs] = [await idOf(token), await idOf(ann.token), await idOf(bob.token)];
    expect(owners.apiKey).toBe(keys.dev);
    expect(new Set([owners.id, anns.id, bobs.id]).size).toBe(3);
    for (const { token: key } of [ann, bob]) {
      const environments = (await ask(`GET ${at}/environments`, { key })).body as ListedEnvironment[];
      expect(environments.map(({ slug }) => slug)).toEqual(['dev', 'stg', 'prod', 'preview']);
    }

    await ask(`POST ${at}/envvars/dev`, { key: ann.token, body: { name: 'WHO', value: 'ann' } });
    expect((await ask(`GET ${at}/envvars/dev`, { key: ann.token })).body).toMatchObject([{ value: 'ann' }]);
    expect((await ask(`GET ${at}/envvars/dev`, { key: anns.apiKey })).body).toMatchObject([{ value: 'ann' }]);
    expect((await ask(`GET ${at}/envvars/dev`, { key: bob.token })).body).toEqual([]);

    // A member creates keys for their own dev, and for nothing else.
    const created = await ask(`POST ${at}/dev/keys`, { key: ann.token, body: { name: 'laptop' } });
    expect(created.status).toBe(200);
    expect((await ask('GET /api/v1/whoami', { key: created.body.key })).body.environment.id).toBe(anns.id);
    expect((await ask(`POST ${at}/staging/keys`, { key: ann.token, body: { name: 'x' } })).status).toBe(403);
    expect((await ask(`POST ${at}/dev/keys/${created.body.id}/revoke`, { key: bob.token })).status).toBe(404);

    const branch = { branch: 'wip', env: 'dev' };
    const [hers, his] = [
      await ask(`POST ${at}/branches`, { key: ann.token, body: branch }),
      await ask(`POST ${at}/branches`, { key: bob.token, body: branch }),
    ];
    expect(hers.body.id).not.toBe(his.body.id);
    expect((await ask(`GET ${at}/branches`, { key: ann.token })).body.branches).toMatchObject([
      { id: hers.body.id },
    ]);
    const headers = { 'x-service-branch': 'wip' };
    expect((await ask('GET /api/v1/whoami', { key: anns.apiKey, headers })).body.environment.id).toBe(
      hers.body.id,
    );
    expect((await ask(`POST ${at}/branches/archive`, { key: bob.token, body: branch })).body).toMatchObject({
      id: his.body.id,
      isArchived: true,
    });
    expect((await ask('GET /api/v1/whoami', { key: anns.apiKey, headers })).status).toBe(200);

    const run = await ask('POST /api/v1/tasks/a/trigger', { key: anns.apiKey, body: {} });
    const runsOf = async (key: string) =>
      (await ask(`GET ${at}/runs?filter[env]=dev`, { key })).body.data as { id: string }[];
    expect(await runsOf(ann.token)).toMatchObject([{ id: run.body.id }]);
    expect(await runsOf(bob.token)).toEqual([]);
    expect((await ask(`POST ${at}/dev/jwt`, { key: ann.token, body: {} })).status).toBe(200);
  });

  test('is created for every member when a project or a member is added, also at once, and ends with the membership', async () => {
    const { ask, userWith, organization, sql } = await installation();
    const ann = await userWith('member');
    const [project] = await Promise.all([
      ask(`POST /api/v1/orgs/${organization}/projects`, { body: { name: 'Second' } }),
      userWith('admin'),
    ]);
    const counts = await sql<{ devs: number }[]>`
      select count(*)::int as devs from environments where kind = 'dev' and archived_at is null group by project_id`;
    expect(counts.map(({ devs }) => devs)).toEqual([3, 3]);
    const at = `/api/v1/projects/${project.body.id}`;
    const { apiKey } = (await ask(`GET ${at}/dev`, { key: ann.token })).body as { apiKey: string };
    expect((await ask('GET /api/v1/whoami', { key: apiKey })).status).toBe(200);
    expect((await ask(`DELETE /api/v1/orgs/${organization}/members/${ann.id}`)).status).toBe(200);
    await expect.poll(async () => (await ask('GET /api/v1/whoami', { key: apiKey })).status).toBe(401);
    // A member who returns gets new ones.
    const invited = await ask(`POST /api/v1/orgs/${organization}/invites`, { body: { email: 'a@b.co' } });
    await ask('POST /api/v1/invites/accept', { key: ann.token, body: { token: invited.body.token } });
    const again = await ask(`GET ${at}/dev`, { key: ann.token });
    expect(again.body.apiKey).toMatch(/^svc_dev_sk_/);
    expect(again.body.apiKey).not.toBe(apiKey);
  });
});

describe('an environment', () => {
  test('that is paused accepts triggers, starts nothing and reports the pause, until it is resumed', async () => {
    const { ask, keys, projectRef, userWith, organization, server } = await sharedInstallation();
    const at = `/api/v1/projects/${projectRef}`;
    const [viewer, member] = [await userWith('viewer'), await userWith('member')];
    expect((await ask(`POST ${at}/prod/pause`, { key: member.token })).status).toBe(403);
    expect((await ask(`POST ${at}/dev/pause`, { key: viewer.token })).status).toBe(403);
    expect((await ask(`POST ${at}/dev/pause`, { key: member.token })).body.paused).toBe(true);
    expect((await ask(`POST ${at}/production/pause`)).body).toMatchObject({ paused: true });
    const run = await ask('POST /api/v1/tasks/a/trigger', { key: keys.prod, body: {} });
    expect(run.status).toBe(200);
    const registered = await ask('POST /runner/v1/versions', {
      key: keys.prod,
      body: { contentHash: 'content-1', tasks: [{ id: 'a', filePath: 'tasks/a.ts', exportName: 'a' }] },
    });
    expect(registered.status).toBe(200);
    await promote(server.url, keys.prod);
    const why = async () =>
      (await ask(`GET /api/v1/runs/${run.body.id}/reason`, { key: keys.prod })).body as { reason: string };
    await expect.poll(why).toMatchObject({ reason: 'environment_paused' });
    const environments = (await ask(`GET ${at}/environments`)).body as ListedEnvironment[];
    // The member's dev is not the owner's.
    expect(environments.filter(({ paused }) => paused).map(({ slug }) => slug)).toEqual(['prod']);
    expect((await ask(`POST ${at}/prod/resume`)).body).toMatchObject({ paused: false });
    expect(await why()).not.toMatchObject({ reason: 'environment_paused' });
    await ask(`POST ${at}/prod/resume`);
    await ask('PUT /api/v1/concurrency', { key: keys.stg, body: { concurrencyLimit: 3 } });
    const { data } = (await ask(`GET /api/v1/orgs/${organization}/audit?page[size]=10`)).body as {
      data: { act: string; environment: string; new: object; actor: { kind: string } }[];
    };
    const acts = data.filter(({ act }) => act.startsWith('environment.'));
    expect(acts).toMatchObject([
      {
        act: 'environment.limited',
        environment: 'stg',
        actor: { kind: 'secretKey' },
        new: { concurrencyLimit: 3 },
      },
      { act: 'environment.resumed', environment: 'prod', actor: { kind: 'user' } },
      { act: 'environment.paused', environment: 'prod', new: { paused: true } },
      { act: 'environment.paused', environment: 'dev' },
    ]);
  });

  test('is deleted when its name is confirmed: its keys end, an empty one replaces it; prod cannot be deleted', async () => {
    const { ask, keys, projectRef, userWith } = await sharedInstallation();
    const at = `/api/v1/projects/${projectRef}`;
    const member = await userWith('member');
    expect((await ask(`DELETE ${at}/prod?confirm=prod`)).status).toBe(422);
    expect((await ask(`DELETE ${at}/stg?confirm=prod`)).status).toBe(400);
    expect((await ask(`DELETE ${at}/stg`)).status).toBe(400);
    expect((await ask(`DELETE ${at}/stg?confirm=stg`, { key: member.token })).status).toBe(403);
    await ask(`POST ${at}/envvars/stg`, { body: { name: 'A', value: '1' } });
    const deleted = await ask(`DELETE ${at}/staging?confirm=stg`);
    expect(deleted.status).toBe(200);
    await expect.poll(async () => (await ask('GET /api/v1/whoami', { key: keys.stg })).status).toBe(401);
    const fresh = await ask(`GET ${at}/stg`);
    expect(fresh.body).toMatchObject({
      id: deleted.body.id,
      apiKey: expect.stringMatching(/^svc_stg_sk_/) as string,
    });
    expect((await ask(`GET ${at}/envvars/stg`)).body).toEqual([]);
    const both = await Promise.all([1, 2].map(() => ask(`DELETE ${at}/preview?confirm=preview`)));
    expect(both.map(({ status }) => status).includes(200)).toBe(true);
    expect(both.every(({ status }) => status === 200 || status === 404)).toBe(true);
    expect((await ask(`GET ${at}/environments`)).body).toHaveLength(4);
  });
});

describe('a project', () => {
  test('is deleted by owners after a confirmation: access ends immediately, the data is deleted in batches, and the last project cannot be deleted', async () => {
    const { ask, organization, userWith, sql, server, projectRef } = await installation();
    const admin = await userWith('admin');
    const ref = (await ask(`POST /api/v1/orgs/${organization}/projects`, { body: { name: 'Second' } })).body
      .id as string;
    const { apiKey, id: env } = (await ask(`GET /api/v1/projects/${ref}/stg`)).body as {
      apiKey: string;
      id: string;
    };
    for (let n = 0; n < 3; n++) await ask('POST /api/v1/tasks/a/trigger', { key: apiKey, body: {} });
    await ask(`POST /api/v1/projects/${ref}/envvars/stg`, { body: { name: 'A', value: '1' } });
    await ask(`POST /api/v1/projects/${ref}/branches`, { body: { branch: 'b' } });
    const token = (
      await ask('POST /api/v1/auth/jwt', { key: apiKey, body: { claims: { scopes: ['read:runs'] } } })
    ).body.token as string;
    const [row] = await sql<{ id: number }[]>`select id from environments where public_id = ${env}`;
    const rows = async () =>
      (await sql<{ n: number }[]>`select count(*)::int as n from runs where env = ${row?.id ?? 0}`)[0]?.n;
    expect(await rows()).toBe(3);

    expect((await ask(`DELETE /api/v1/projects/${ref}?confirm=${ref}`, { key: admin.token })).status).toBe(
      403,
    );
    expect((await ask(`DELETE /api/v1/projects/${ref}?confirm=${projectRef}`)).status).toBe(400);
    expect((await ask(`DELETE /api/v1/projects/${ref}?confirm=${ref}`)).body).toEqual({ id: ref });
    for (const request of [
      `GET /api/v1/projects/${ref}`,
      `GET /api/v1/projects/${ref}/envvars/stg`,
      `DELETE /api/v1/projects/${ref}?confirm=${ref}`,
    ]) {
      expect((await ask(request)).status).toBe(404);
    }
    for (const key of [apiKey, token]) {
      await expect.poll(async () => (await ask('GET /api/v1/whoami', { key })).status).toBe(401);
    }
    expect((await ask('GET /api/v1/projects')).body).toHaveLength(1);
    expect((await ask(`DELETE /api/v1/projects/${projectRef}?confirm=${projectRef}`)).status).toBe(422);
    const [entry] = (await ask(`GET /api/v1/orgs/${organization}/audit?filter[act]=project.deleted`)).body
      .data as unknown[];
    expect(entry).toMatchObject({ target: ref, old: { name: 'Second' } });

    expect(await rows()).toBe(3);
    await sql`update environments set prune_at = now() where prune_at is not null`;
    await server.close();
    const { environmentPruner } = await import('../../packages/server/src/tenancy/prune.ts');
    const job = environmentPruner(sql, { now: Date.now });
    while (await job.tick());
    expect(await rows()).toBe(0);
    expect(await sql`select from projects where ref = ${ref}`).toHaveLength(0);
    // All other data is unchanged.
    expect(await sql`select from environments where parent_id is null`).toHaveLength(5);
    expect(await sql`select from audit_log where act = 'project.deleted'`).toHaveLength(1);
  });
});
