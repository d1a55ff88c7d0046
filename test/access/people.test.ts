import { describe, expect, test } from 'vitest';
import { sharedInstallation, installation } from './installation.ts';

describe('organizations', () => {
  test('are created, renamed and seen by their members only', async () => {
    const { ask, organization, userWith } = await sharedInstallation();
    const { token } = await userWith('viewer');
    const created = await ask('POST /api/v1/orgs', { body: { name: ' Mine ' } });
    expect(created).toMatchObject({ status: 200, body: { name: 'Mine', role: 'owner' } });
    const at = `/api/v1/orgs/${created.body.id}`;
    expect((await ask(`PATCH ${at}`, { body: { name: 'Ours' } })).body.name).toBe('Ours');
    expect((await ask('GET /api/v1/orgs')).body).toHaveLength(2);
    expect((await ask('GET /api/v1/orgs', { key: token })).body).toMatchObject([
      { id: organization, role: 'viewer' },
    ]);
    // The same reply for a foreign and a missing object.
    const [other, none] = await Promise.all(
      [at, '/api/v1/orgs/org_unknown'].map((path) => ask(`GET ${path}/members`, { key: token })),
    );
    expect(other).toMatchObject({ status: 404, body: none?.body });
    expect(none?.status).toBe(404);
  });

  test('and their projects are limited, also when many are created at once', async () => {
    const { ask, organization, another } = await installation({
      tenancyLimits: { organizations: 3, projects: 2 },
    });
    const server = await another();
    const create = (request: string) =>
      Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          ask(request, { body: { name: `n${n}` }, ...(n % 2 === 0 && { server }) }),
        ),
      );
    const statuses = (replies: Awaited<ReturnType<typeof create>>) =>
      replies.map(({ status }) => status).toSorted((a, b) => a - b);
    // The first start has created one of each.
    const organizations = await create('POST /api/v1/orgs');
    expect(statuses(organizations)).toEqual([200, 200, 422, 422, 422, 422]);
    expect(organizations.find(({ status }) => status === 422)?.body.error).toBe(
      'You own 3 organizations; at most 3 are allowed. Use one of them, or raise MILLRACE_MAX_ORGANIZATIONS on the server.',
    );
    const projects = await create(`POST /api/v1/orgs/${organization}/projects`);
    expect(statuses(projects)).toEqual([200, 422, 422, 422, 422, 422]);
    expect(projects.find(({ status }) => status === 422)?.body.error).toBe(
      'This organization has 2 projects; at most 2 are allowed. Delete one, or raise MILLRACE_MAX_PROJECTS on the server.',
    );
    const { id } = projects.find(({ status }) => status === 200)!.body as { id: string };
    expect((await ask(`DELETE /api/v1/projects/${id}?confirm=${id}`)).status).toBe(200);
    expect(statuses(await create(`POST /api/v1/orgs/${organization}/projects`))).toEqual([
      200, 422, 422, 422, 422, 422,
    ]);
  });

  test('keep an owner, and only owners add owners', async () => {
    const { ask, organization, userWith } = await sharedInstallation();
    const at = `/api/v1/orgs/${organization}`;
    const [admin, member] = [await userWith('admin'), await userWith('member')];
    const members = (await ask(`GET ${at}/members`)).body as { userId: string; role: string }[];
    expect(members.map(({ role }) => role)).toEqual(['owner', 'admin', 'member']);
    const owner = members[0]?.userId ?? '';
    const patch = (id: string, role: string, key?: string) =>
      ask(`PATCH ${at}/members/${id}`, { body: { role }, ...(key !== undefined && { key }) });
    expect((await patch(member.id, 'owner', admin.token)).status).toBe(403);
    expect((await patch(owner, 'member', admin.token)).status).toBe(403);
    expect((await ask(`DELETE ${at}/members/${owner}`, { key: admin.token })).status).toBe(403);
    expect(
      (await ask(`POST ${at}/invites`, { key: admin.token, body: { email: 'a@b.co', role: 'owner' } }))
        .status,
    ).toBe(403);
    expect((await patch(member.id, 'viewer', admin.token)).body.role).toBe('viewer');
    expect((await patch(member.id, 'admin', member.token)).status).toBe(403);
    expect((await patch(owner, 'admin')).status).toBe(422);
    expect((await ask(`POST ${at}/leave`)).status).toBe(422);
    expect((await patch(admin.id, 'owner')).status).toBe(200);
    const both = await Promise.all([ask(`POST ${at}/leave`), ask(`POST ${at}/leave`, { key: admin.token })]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
    expect((await patch('user_unknown', 'viewer', admin.token)).status).toBe(404);
  });
});

describe('names', () => {
  test('with an unpaired surrogate are rejected in every name field', async () => {
    const { ask, organization, projectRef } = await sharedInstallation();
    const name = 'a\ud800';
    const at = `/api/v1/projects/${projectRef}`;
    const invited = await ask(`POST /api/v1/orgs/${organization}/invites`, {
      body: { email: 'ann@example.com' },
    });
    const { userCode } = (await ask('POST /api/v1/authorization-code', { key: '' })).body;
    const requests: readonly (readonly [string, object])[] = [
      ['POST /api/v1/orgs', {}],
      [`PATCH /api/v1/orgs/${organization}`, {}],
      [`POST /api/v1/orgs/${organization}/projects`, {}],
      [`PATCH ${at}`, {}],
      [`POST ${at}/prod/keys`, {}],
      ['POST /api/v1/tokens', {}],
      ['POST /api/v1/invites/join', { token: invited.body.token }],
      ['POST /api/v1/authorization-code/approve', { userCode }],
    ];
    for (const [request, more] of requests) {
      const { status, body } = await ask(request, { body: { ...more, name } });
      expect([request, status, body.details]).toMatchObject([request, 400, [{ path: ['name'] }]]);
      // The whole character is accepted.
      expect((await ask(request, { body: { ...more, name: 'a\ud83d\ude00' } })).status).toBe(200);
    }
  });
});

describe('invitations', () => {
  test('create a new user with a token of their own, once', async () => {
    const { ask, organization, logged, sql } = await installation();
    const at = `/api/v1/orgs/${organization}/invites`;
    const created = await ask(`POST ${at}`, { body: { email: 'ann@example.com' } });
    expect(created.body).toMatchObject({
      role: 'member',
      token: expect.stringMatching(/^svc_inv_/) as string,
    });
    expect(JSON.stringify((await ask(`GET ${at}`)).body)).not.toContain(created.body.token);
    const join = () =>
      ask('POST /api/v1/invites/join', { key: '', body: { token: created.body.token, name: 'Ann' } });
    const [first, second] = await Promise.all([join(), join()]);
    expect([first.status, second.status].toSorted((a, b) => a - b)).toEqual([200, 404]);
    const joined = first.status === 200 ? first : second;
    const me = await ask('GET /api/v1/whoami', { key: joined.body.personalAccessToken });
    expect(me.body).toMatchObject({
      kind: 'personalAccessToken',
      user: { name: 'Ann', email: 'ann@example.com' },
      organizations: [{ id: organization, role: 'member' }],
    });
    expect((await ask(`GET ${at}`)).body).toEqual([]);
    expect(JSON.stringify(await sql`select i::text from invitations i`)).not.toContain(created.body.token);
    expect(logged.join('')).not.toContain(created.body.token);
  });

  test('are accepted by existing users, and never resolve to one by their address', async () => {
    const { ask, userWith } = await sharedInstallation();
    const { token } = await userWith('member');
    const { email } = (await ask('GET /api/v1/whoami', { key: token })).body.user as { email: string };
    const org = (await ask('POST /api/v1/orgs', { body: { name: 'Other' } })).body.id as string;
    const invite = async () =>
      (
        await ask(`POST /api/v1/orgs/${org}/invites`, {
          body: { email, role: 'admin' },
        })
      ).body.token as string;
    const accepted = await ask('POST /api/v1/invites/accept', {
      key: token,
      body: { token: await invite() },
    });
    expect(accepted).toMatchObject({ status: 200, body: { id: org, role: 'admin' } });
    expect(
      (await ask('POST /api/v1/invites/accept', { key: token, body: { token: await invite() } })).status,
    ).toBe(422);
    const stranger = await ask('POST /api/v1/invites/join', {
      key: '',
      body: { token: await invite(), name: 'X' },
    });
    const me = await ask('GET /api/v1/whoami', { key: stranger.body.personalAccessToken });
    expect(me.body.user).not.toHaveProperty('email');
    expect(me.body.organizations).toHaveLength(1);
  });

  test('to one address, used at once, create users of whom one has it', async () => {
    const { ask, organization, sql, logged } = await installation();
    const invited = await Promise.all(
      ['A', 'B', 'C', 'D'].map(async (name) => {
        const { body } = await ask(`POST /api/v1/orgs/${organization}/invites`, {
          body: { email: 'one@example.com' },
        });
        return { token: body.token as string, name };
      }),
    );
    const joined = await Promise.all(
      invited.map((body) => ask('POST /api/v1/invites/join', { key: '', body })),
    );
    expect(joined.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await sql`select from users where email = 'one@example.com'`).toHaveLength(1);
    expect(logged.filter((line) => line.includes('request.failed'))).toEqual([]);
  });

  test('are withdrawn, and expire', async () => {
    const { ask, organization, sql } = await installation();
    const at = `/api/v1/orgs/${organization}/invites`;
    const invite = async () =>
      (await ask(`POST ${at}`, { body: { email: 'a@example.com' } })).body as { id: string; token: string };
    const join = (token: string) => ask('POST /api/v1/invites/join', { key: '', body: { token, name: 'A' } });
    const [back, old] = [await invite(), await invite()];
    expect((await ask(`POST ${at}/${back.id}/revoke`)).status).toBe(200);
    expect((await ask(`POST ${at}/${back.id}/revoke`)).status).toBe(404);
    await sql`update invitations set expires_at = now() where id = ${old.id}`;
    const answers = await Promise.all(
      [back.token, old.token, 'svc_inv_unknown', ''].map((token) => join(token)),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 400]);
    expect(answers[0]?.body).toEqual(answers[2]?.body);
  });
});

describe('projects', () => {
  test('have four environments, and keys that open nothing elsewhere', async () => {
    const { ask, organization, keys, projectRef, userWith } = await sharedInstallation();
    const created = await ask(`POST /api/v1/orgs/${organization}/projects`, { body: { name: 'Second' } });
    expect(created).toMatchObject({
      status: 200,
      body: { name: 'Second', role: 'owner', organization: { id: organization } },
    });
    const ref = created.body.externalRef as string;
    expect(
      (await ask('GET /api/v1/projects')).body.map((each: { externalRef: string }) => each.externalRef),
    ).toEqual([projectRef, ref]);
    expect((await ask(`GET /api/v1/orgs/${organization}/projects`)).body).toHaveLength(2);
    expect((await ask(`PATCH /api/v1/projects/${ref}`, { body: { name: 'Renamed' } })).body.name).toBe(
      'Renamed',
    );
    expect((await ask(`GET /api/v1/projects/${ref}/environments`)).body).toMatchObject(
      ['dev', 'stg', 'prod', 'preview'].map((slug) => ({ slug, branchName: null, paused: false })),
    );
    const { apiKey } = (await ask(`GET /api/v1/projects/${ref}/staging`)).body as { apiKey: string };
    const run = await ask('POST /api/v1/tasks/a/trigger', { key: apiKey, body: {} });
    const [theirs, none] = await Promise.all(
      [run.body.id as string, 'run_unknown'].map((id) => ask(`GET /api/v3/runs/${id}`, { key: keys.stg })),
    );
    expect(theirs).toMatchObject({ status: 404, body: none?.body });

    const [viewer, member] = [await userWith('viewer'), await userWith('member')];
    const reveal = async (key: string, env: string) => ask(`GET /api/v1/projects/${ref}/${env}`, { key });
    expect((await reveal(viewer.token, 'dev')).status).toBe(403);
    expect((await reveal(member.token, 'dev')).body).toHaveProperty('apiKey');
    expect((await reveal(member.token, 'prod')).body).not.toHaveProperty('apiKey');
  });
});
