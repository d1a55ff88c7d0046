import { describe, expect, it } from 'vitest';
import { installation } from './installation.ts';

describe('a login by approval', () => {
  it('gives the machine that asked one token of the user who approved, once', async () => {
    const { ask, organization, sql, logged, server } = await installation();
    const asked = await ask('POST /api/v1/authorization-code', { key: '' });
    expect(asked).toMatchObject({
      status: 200,
      body: {
        authorizationCode: expect.stringMatching(/^svc_code_/) as string,
        url: `${server.url}/api/v1/authorization-code/approve`,
      },
    });
    const inMinutes = (new Date(asked.body.expiresAt as string).getTime() - Date.now()) / 60_000;
    expect(inMinutes).toBeGreaterThan(8);
    expect(inMinutes).toBeLessThan(12);
    const { authorizationCode } = asked.body as { authorizationCode: string };
    const look = () => ask('POST /api/v1/token', { key: '', body: { authorizationCode } });
    expect(await look()).toMatchObject({ status: 200, body: { token: null } });
    expect(await sql`select from login_approvals`).toHaveLength(0);

    const approve = (name: string) =>
      ask('POST /api/v1/authorization-code/approve', { body: { authorizationCode, name } });
    expect(await approve(' laptop ')).toMatchObject({ status: 200, body: { name: 'laptop' } });
    expect((await approve('again')).status).toBe(422);
    const both = await Promise.all([look(), look()]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const [made, ...more] = both.flatMap(({ body }) => (body.token === null ? [] : [body.token])) as {
      token: string;
      obfuscatedToken: string;
    }[];
    expect(more).toEqual([]);
    const { token = '', obfuscatedToken } = made ?? {};
    expect(obfuscatedToken).toBe(`svc_pat_…${token.slice(-4)}`);
    expect((await look()).body).toEqual({ token: null });
    expect((await approve('again')).status).toBe(422);

    const me = await ask('GET /api/v2/whoami', { key: token });
    expect(me).toMatchObject({
      status: 200,
      body: { userId: expect.stringMatching(/^user_/) as string, name: 'Owner' },
    });
    expect(me.body.organizations).toEqual([
      { id: organization, name: expect.any(String) as string, role: 'owner' },
    ]);
    const { data } = (await ask('GET /api/v1/tokens')).body as { data: { name: string; id: string }[] };
    const id = data.find(({ name }) => name === 'laptop')?.id;
    const { body: audit } = await ask(`GET /api/v1/orgs/${organization}/audit?filter[act]=token.created`);
    expect(audit.data).toMatchObject([
      { target: id, actor: { kind: 'user', id: me.body.userId }, new: { name: 'laptop' } },
    ]);
    const kept = JSON.stringify(await sql`select l::text from login_approvals l`);
    for (const secret of [token, authorizationCode]) {
      expect(kept + JSON.stringify(audit) + logged.join('')).not.toContain(secret);
    }
  });

  it('is of the one who approves: no other user, no key, and no longer than the approving token', async () => {
    const { ask, keys, userWith } = await installation();
    const newCode = async () =>
      (await ask('POST /api/v1/authorization-code', { key: '' })).body.authorizationCode as string;
    const approve = (authorizationCode: string, key?: string) =>
      ask('POST /api/v1/authorization-code/approve', {
        body: { authorizationCode },
        ...(key !== undefined && { key }),
      });
    const look = (authorizationCode: string) =>
      ask('POST /api/v1/token', { key: '', body: { authorizationCode } });
    const code = await newCode();
    expect((await approve(code, keys.prod)).status).toBe(401);
    expect((await approve(code, '')).status).toBe(401);
    const viewer = await userWith('viewer');
    expect(await approve(code, viewer.token)).toMatchObject({ status: 200, body: { name: 'login' } });
    const { token } = (await look(code)).body.token as { token: string };
    expect((await ask('GET /api/v2/whoami', { key: token })).body.userId).toBe(viewer.id);

    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const ending = (await ask('POST /api/v1/tokens', { body: { name: 'ending', expiresAt } })).body;
    const [second, third] = [await newCode(), await newCode()];
    for (const each of [second, third]) expect((await approve(each, ending.token)).status).toBe(200);
    expect((await look(second)).body.token).not.toBeNull();
    const { data } = (await ask('GET /api/v1/tokens')).body as {
      data: { name: string; expiresAt?: string }[];
    };
    expect(data.filter(({ name }) => name === 'login')).toMatchObject([{ expiresAt }]);
    // What ended before its approval was used lets nobody in.
    await ask(`POST /api/v1/tokens/${ending.id}/revoke`);
    expect((await look(third)).status).toBe(404);
  });

  it('takes no code that the server did not make, or that is over', async () => {
    const { ask, sql } = await installation();
    const { authorizationCode } = (await ask('POST /api/v1/authorization-code', { key: '' })).body as {
      authorizationCode: string;
    };
    const forged = `${authorizationCode.slice(0, -1)}${authorizationCode.endsWith('A') ? 'B' : 'A'}`;
    for (const code of [forged, 'svc_code_x', 'x']) {
      const body = { authorizationCode: code };
      expect((await ask('POST /api/v1/token', { key: '', body })).status).toBe(404);
      expect((await ask('POST /api/v1/authorization-code/approve', { body })).status).toBe(404);
    }
    const long = { authorizationCode: 'x'.repeat(129) };
    expect((await ask('POST /api/v1/token', { key: '', body: long })).status).toBe(400);
    // What is over goes with the next approval.
    await sql`
      insert into login_approvals (digest, token_id, name, expires_at)
      select ${Buffer.alloc(32)}, id, 'old', now() - interval '1 second' from personal_access_tokens`;
    await ask('POST /api/v1/authorization-code/approve', { body: { authorizationCode } });
    expect((await sql<{ name: string }[]>`select name from login_approvals`).map(({ name }) => name)).toEqual(
      ['login'],
    );
  });
});
