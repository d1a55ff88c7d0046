import { describe, expect, test } from 'vitest';
import { checkUrl } from './check-url.ts';
import { reasonOf } from './deliver.ts';
import { createNetworks } from './networks.ts';
import { post, type Resolve } from './post.ts';
import { notifyingServer, startNotifyingServer } from './testing/notifying-server.ts';

const url = 'http://127.0.0.1:9/hook';

describe('endpoints', () => {
  test('are created with a secret that is returned once, changed, listed and deleted', async () => {
    const server = await startNotifyingServer();
    const created = await server.notifications('/endpoints', 'POST', {
      url,
      types: ['run.failed', 'run.failed', 'error.*'],
      description: 'pager',
    });
    expect(created.status).toBe(200);
    const { secret, ...endpoint } = created.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^endpoint_/),
      kind: 'webhook',
      url,
      mail: null,
      description: 'pager',
      types: ['run.failed', 'error.*'],
      enabled: true,
      disabledBy: null,
      disabledAt: null,
      failingSince: null,
      createdAt: expect.any(String),
    });
    expect((await server.notifications('/endpoints')).body).toEqual({ data: [endpoint] });
    const path = `/endpoints/${endpoint.id}`;
    expect((await server.notifications(path)).body).toEqual(endpoint);
    expect((await server.notifications(path, 'PATCH', { types: ['*'], description: null })).body).toEqual({
      ...endpoint,
      types: ['*'],
      description: null,
    });
    expect((await server.notifications(path, 'PATCH', { enabled: false })).body).toMatchObject({
      enabled: false,
      disabledBy: 'user',
      types: ['*'],
    });
    expect((await server.notifications(path, 'DELETE')).body).toEqual({ id: endpoint.id });
    expect((await server.notifications(path)).status).toBe(404);
    expect((await server.notifications(path, 'DELETE')).status).toBe(404);
    expect((await server.notifications(`${path}/rotate-secret`, 'POST')).status).toBe(404);
    expect((await server.notifications(path, 'PATCH', {})).status).toBe(404);
    expect(server.logged.join()).not.toContain(secret);
  });

  test.each([
    [{ types: ['*'] }, 400, /"url"/],
    [{ url: 'ftp://a.example', types: ['*'] }, 400, /https address/],
    [{ url: 'https://user:pass@a.example', types: ['*'] }, 400, /without a user/],
    [{ url: 'not a url', types: ['*'] }, 400, /https address/],
    [{ url, types: [] }, 400, /"types"/],
    [{ url, types: ['*'], description: 'a\ud800' }, 400, /unpaired surrogate at "description"/],
    [{ url, types: ['run.exploded'] }, 400, /not a type of notification; use run\.failed/],
    [{ url: 'http://10.0.0.1/', types: ['*'] }, 422, /url: 10\.0\.0\.1 is not a public Internet address/],
    [{ url: 'http://[::1]/', types: ['*'] }, 422, /::1 is not/],
    [{ url: 'http://1.1.1.1/', types: ['*'] }, 422, /only https is allowed/],
  ])('reject %j', async (body, status, message) => {
    const server = await notifyingServer();
    const answer = await server.notifications('/endpoints', 'POST', body);
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(message)]);
  });

  test('on this machine are rejected unless they are allowed', async () => {
    const server = await startNotifyingServer({ notificationNetworks: [] });
    for (const host of [
      '127.0.0.1',
      'localhost',
      '2130706433',
      '0x7f.1',
      '0.0.0.0',
      '169.254.169.254',
      '[::ffff:127.0.0.1]',
    ]) {
      const answer = await server.notifications('/endpoints', 'POST', {
        url: `https://${host}/`,
        types: ['*'],
      });
      expect([host, answer.status, answer.body.error]).toEqual([
        host,
        422,
        expect.stringMatching(/not a public Internet address/),
      ]);
    }
  });

  test('do not reveal how a name resolves, neither on creation nor on delivery', async () => {
    const resolved: string[] = [];
    const known: Readonly<Record<string, string>> = {
      'inside.example': '10.0.0.7',
      'allowed.example': '127.9.9.9',
    };
    const resolve: Resolve = async (name) => {
      resolved.push(name);
      const address = known[name];
      if (address === undefined)
        throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
      return [{ address, family: 4 }];
    };
    const networks = createNetworks(['127.0.0.0/8']);
    for (const name of ['inside.example', 'nobody.example']) {
      expect(() => checkUrl(`https://${name}/`, { networks, resolve })).not.toThrow();
    }
    expect(resolved).toEqual([]);
    expect(() => checkUrl('http://inside.example/', { networks: createNetworks(), resolve })).toThrow(
      'url: over the public Internet only https is allowed, and only TLS for mail.',
    );
    const failureOf = (host: string) =>
      post({
        url: new URL(`http://${host}:9/`),
        headers: {},
        body: '',
        networks,
        resolve,
        signal: AbortSignal.timeout(9_000),
      }).then(String, reasonOf);
    const closed = 'Refused: the name does not resolve to an allowed address';
    expect([await failureOf('inside.example'), await failureOf('nobody.example')]).toEqual([closed, closed]);
    expect(await failureOf('allowed.example')).toBe('connect failed: ECONNREFUSED');
  });

  test('belong to an environment: keys of other environments and users of other projects cannot see them', async () => {
    const server = await notifyingServer();
    const root = `/api/v1/projects/${server.projectRef}/notifications`;
    const { id } = await server.endpoint(url, ['*']);
    const pat = server.personalAccessToken;
    const ask = (path: string, key: string) => server.ask(`${root}${path}`, { key });
    expect((await ask(`/prod/endpoints/${id}`, pat)).body.id).toBe(id);
    expect((await ask('/production/endpoints', pat)).body.data).toHaveLength(1);
    expect((await ask('/stg/endpoints', pat)).body.data).toEqual([]);
    expect((await ask('/nowhere/endpoints', pat)).status).toBe(404);
    expect((await ask('/prod/endpoints', server.keys.stg)).status).toBe(400);
    expect((await ask(`/stg/endpoints/${id}`, server.keys.stg)).status).toBe(404);
    expect(
      (await server.ask('/api/v1/projects/proj_unknown/notifications/prod/endpoints', { key: pat })).status,
    ).toBe(404);
    const created = await server.ask(`${root}/stg/endpoints`, {
      key: pat,
      method: 'POST',
      body: { url, types: ['*'] },
    });
    expect(created.status).toBe(200);
  });
});
