import { describe, expect, it } from 'vitest';
import { installation } from './installation.ts';

describe('the audit log', () => {
  it('tells every administrative act: who, what, from where, before and after, without secrets', async () => {
    const { ask, organization, projectRef, sql, userWith } = await installation({
      notificationNetworks: ['127.0.0.0/8'],
    });
    const at = `/api/v1/projects/${projectRef}`;
    const { body: key } = await ask(`POST ${at}/prod/keys`, {
      body: { name: 'ci', preset: 'deploy-only' },
      headers: { 'user-agent': 'tests' },
    });
    const rotated = (await ask(`POST ${at}/prod/keys/${key.id}/rotate`)).body;
    await ask(`POST ${at}/prod/keys/${rotated.id}/revoke`);
    const revealed = (await ask(`GET ${at}/prod`)).body;
    await ask(`POST ${at}/prod/signing-key/rotate`);
    await ask(`POST ${at}/branches`, { body: { branch: 'b' } });
    await ask(`POST ${at}/branches/archive`, { body: { branch: 'b' } });
    await ask(`PATCH ${at}`, { body: { name: 'New' } });
    const member = await userWith('member');
    await ask(`PATCH /api/v1/orgs/${organization}/members/${member.id}`, { body: { role: 'viewer' } });
    await ask(`DELETE /api/v1/orgs/${organization}/members/${member.id}`);
    const token = (await ask('POST /api/v1/tokens', { body: { name: 't' } })).body;
    await ask(`POST /api/v1/tokens/${token.id}/revoke`);

    const endpoints = `${at}/notifications/prod/endpoints`;
    const hook = { url: 'http://127.0.0.1:9/hooks/T0ps3cr3tp4th', types: ['run.failed'] };
    const { body: endpoint } = await ask(`POST ${endpoints}`, { body: hook });
    await ask(`PATCH ${endpoints}/${endpoint.id}`, { body: { enabled: false } });
    const { body: signed } = await ask(`POST ${endpoints}/${endpoint.id}/rotate-secret`);
    await ask(`DELETE ${endpoints}/${endpoint.id}`);
    await ask(`POST ${at}/envvars/prod`, {
      body: { name: 'TOKEN', value: 'v4lue-of-a-variable', isSecret: true },
    });

    const list = `GET /api/v1/orgs/${organization}/audit`;
    const { body } = await ask(`${list}?page[size]=100`);
    expect(body.data.map((entry: { act: string }) => entry.act).toReversed()).toEqual([
      'key.created',
      'key.rotated',
      'key.revoked',
      'key.revealed',
      'signingKey.rotated',
      'branch.created',
      'branch.archived',
      'project.updated',
      'invitation.created',
      'member.added',
      'member.updated',
      'member.removed',
      'token.created',
      'token.revoked',
      'endpoint.created',
      'endpoint.updated',
      'endpoint.secretRotated',
      'endpoint.deleted',
      'variables.changed',
    ]);
    const [user] = await sql<{ id: string }[]>`select id from users order by created_at limit 1`;
    const first = body.data.at(-1);
    expect(first).toMatchObject({
      act: 'key.created',
      actor: { kind: 'user', id: user?.id, credentialId: expect.stringMatching(/^pat_/) as string },
      target: key.id,
      projectRef,
      environment: 'prod',
      new: { name: 'ci', preset: 'deploy-only' },
      from: { address: '127.0.0.1', userAgent: 'tests' },
      requestId: expect.stringMatching(/^req_/) as string,
    });
    expect(body.data.find((entry: { act: string }) => entry.act === 'member.updated')).toMatchObject({
      old: { role: 'member' },
      new: { role: 'viewer' },
    });
    const text = JSON.stringify(body) + JSON.stringify(await sql`select a::text from audit_log a`);
    expect(body.data[1]).toMatchObject({ act: 'endpoint.deleted', old: { host: '127.0.0.1:9' } });
    for (const secret of ['T0ps3cr3tp4th', 'v4lue-of-a-variable']) expect(text).not.toContain(secret);
    for (const secret of [
      endpoint.secret,
      signed.secret,
      key.key,
      rotated.key,
      revealed.apiKey,
      member.token,
      token.token,
    ]) {
      expect(secret.length).toBeGreaterThan(30);
      expect(text).not.toContain(secret);
    }

    const page = (await ask(`${list}?page[size]=5`)).body;
    expect(page.data).toEqual(body.data.slice(0, 5));
    expect((await ask(`${list}?page[size]=5&page[after]=${page.pagination.next}`)).body.data).toEqual(
      body.data.slice(5, 10),
    );
    expect((await ask(`${list}?filter[act]=key.revoked`)).body.data).toHaveLength(1);
    expect((await ask(`${list}?filter[target]=${key.id}`)).body.data).toHaveLength(2);
    expect((await ask(`${list}?page[after]=x`)).status).toBe(400);
    const { token: viewer } = await userWith('viewer');
    expect((await ask(list, { key: viewer })).status).toBe(403);
  });
});
