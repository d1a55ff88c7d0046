import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { configure, deployments } from '@trigger.dev/sdk';
import { describe, expect, test } from 'vitest';
import { bundleOf } from '../../packages/server/src/versions/deployments/testing/bundle.ts';
import { startTestRunner } from '../../packages/server/src/notifications/testing/runner.ts';
import { installation } from '../access/installation.ts';
import { call, deploy, putBlob, type CreatedDeployment } from './client.ts';

const mib = 1_048_576;

describe('a deployment over HTTP', () => {
  test('is created, uploaded, promoted, fetched by a runner and shown by the published SDK', async () => {
    const { server, keys } = await installation();
    const to = { url: server.url, key: keys.prod };
    const large = randomBytes(3 * mib);
    const bundle = bundleOf(
      { 'a.js': 'a' },
      {
        layers: { 'linux-x64-glibc': large },
        more: { git: { commit: 'abc', dirty: false }, externalId: 'build-1', message: 'first' },
      },
    );
    const { id, version } = await deploy(to, bundle);
    const promote = `POST /api/v1/deployments/${version}/promote`;
    await expect(call(to, promote)).rejects.toThrow(/409 .*No connected runner has loaded/);
    await startTestRunner(server.url, keys.prod, [version]);
    await expect.poll(() => call(to, promote).then(() => 'promoted', String)).toBe('promoted');

    const fetched = await call<(typeof bundle)['body']['bundle'] & { version: string }>(
      to,
      `GET /runner/v1/versions/${version}/bundle`,
    );
    expect(fetched).toMatchObject({ ...bundle.body.bundle, version });
    const [{ blob, blobSize }] = fetched.layers as [(typeof fetched.layers)[0]];
    const at = `${server.url}/runner/v1/versions/${version}/blobs/${blob}`;
    const get = (headers: Record<string, string> = {}) =>
      fetch(at, { headers: { authorization: `Bearer ${keys.prod}`, ...headers } });
    const whole = await get();
    expect(whole.status).toBe(200);
    expect(whole.headers.get('content-type')).toBe('application/octet-stream');
    expect(whole.headers.get('content-length')).toBe(String(blobSize));
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(gunzipSync(bytes).equals(large)).toBe(true);
    for (const start of [0, 1, mib - 1, mib, 2 * mib + 7, blobSize - 1]) {
      const rest = await get({ range: `bytes=${start}-` });
      expect(rest.status).toBe(206);
      expect(rest.headers.get('content-range')).toBe(`bytes ${start}-${blobSize - 1}/${blobSize}`);
      expect(Buffer.from(await rest.arrayBuffer()).equals(bytes.subarray(start))).toBe(true);
    }
    expect((await get({ range: `bytes=${blobSize}-` })).status).toBe(416);

    configure({ baseURL: server.url, accessToken: keys.prod });
    expect(await deployments.retrieveCurrent()).toMatchObject({
      id,
      version,
      status: 'DEPLOYED',
      runtime: 'node',
      externalId: 'build-1',
      git: { commit: 'abc' },
      deployedAt: expect.any(Date) as Date,
    });
    for (let n = 0; n < 6; n++) await deploy(to, bundleOf({ 'n.js': String(n) }));
    const seen: string[] = [];
    for await (const deployment of deployments.list({ limit: 3 })) seen.push(deployment.version);
    expect(seen).toHaveLength(7);
    expect(seen.at(-1)).toBe(version);
    const page = await deployments.list({ status: 'FAILED' });
    expect(page.data).toEqual([]);
    const recent = await deployments.list({ period: '1h', limit: 100 });
    expect(recent.data).toHaveLength(7);
  });

  test('continues the upload of a client that was killed', async () => {
    const { server, keys } = await installation();
    const to = { url: server.url, key: keys.prod };
    const bundle = bundleOf({ 'large.bin': randomBytes(4 * mib) });
    const created = await call<CreatedDeployment>(to, 'POST /api/v1/deployments', bundle.body);
    const { blob } = bundle.body.bundle.files.at(-1)!;
    const data = bundle.blobs.get(blob)!;
    const sending = request(`${server.url}/api/v1/deployments/${created.id}/blobs/${blob}`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${keys.prod}`,
        'content-type': 'application/octet-stream',
        'content-length': data.length,
      },
    });
    sending.on('error', () => {});
    sending.write(data.subarray(0, 2 * mib + 100));
    const received = async () =>
      (await call<CreatedDeployment>(to, 'POST /api/v1/deployments', bundle.body)).missing.find(
        (each) => each.blob === blob,
      )?.received;
    await expect.poll(received, { timeout: 10_000 }).toBe(2 * mib);
    sending.destroy();
    expect((await deploy(to, bundle)).id).toBe(created.id);
  });

  test('is rejected for keys without the permission, and does not exist for other environments and projects', async () => {
    const { server, keys, keyWith, ask, organization } = await installation();
    const to = { url: server.url, key: keys.prod };
    const bundle = bundleOf({});
    const { id, version } = await deploy(to, bundle);
    const { blob } = bundle.body.bundle.files[0]!;
    const blobAt = (key: string, of = id) =>
      fetch(`${server.url}/runner/v1/versions/${of}/blobs/${blob}`, {
        headers: key === '' ? {} : { authorization: `Bearer ${key}` },
      });
    const statusOf = async (key: string, of?: string) => (await blobAt(key, of)).status;
    expect(await statusOf('')).toBe(401);
    expect(await statusOf('svc_prod_sk_wrong')).toBe(401);
    expect(await statusOf(await keyWith(['read:deployments']))).toBe(403);
    expect(await statusOf(await keyWith(['admin']))).toBe(200);
    const project = (await ask(`POST /api/v1/orgs/${organization}/projects`, { body: { name: 'Other' } }))
      .body.externalRef as string;
    const other = (await ask(`GET /api/v1/projects/${project}/prod`)).body.apiKey as string;
    for (const key of [keys.stg, other]) {
      expect(await statusOf(key)).toBe(404);
      expect(await statusOf(key, version)).toBe(404);
      for (const verb of ['promote', 'archive', 'finalize'])
        expect((await ask(`POST /api/v1/deployments/${id}/${verb}`, { key })).status).toBe(404);
      expect((await ask(`GET /api/v1/deployments/${id}`, { key })).status).toBe(404);
      expect((await putBlob({ url: server.url, key }, { id }, blob, new Uint8Array(1))).status).toBe(404);
    }
    // The preset allows everything that `millrace deploy` does.
    const deployOnly = (
      await ask(
        `POST /api/v1/projects/${(await ask('GET /api/v1/projects')).body[0].externalRef}/prod/keys`,
        {
          body: { name: 'ci', preset: 'deploy-only' },
        },
      )
    ).body.key as string;
    const by = { url: server.url, key: deployOnly };
    const deployed = await deploy(by, bundleOf({ 'a.js': 'a' }));
    await call(by, `POST /api/v1/deployments/${deployed.version}/promote?force=true`);
    expect(await call(by, `GET /api/v1/deployments/${deployed.version}`)).toMatchObject({
      deployedBy: 'ci',
      state: 'current',
    });
    await expect(call(by, 'POST /api/v1/tasks/send/trigger', {})).rejects.toThrow(/^403/);
    // A newer version, also as canary and with a needless allowRollbacks; but not an older one.
    const next = await deploy(by, bundleOf({ 'a.js': 'b' }));
    await call(by, `POST /api/v1/deployments/${next.version}/promote?force=true&percent=10`);
    await call(by, `POST /api/v1/deployments/${next.version}/promote?force=true&allowRollbacks=true`);
    for (const query of ['', 'allowRollbacks=true', 'allowRollbacks=true&percent=5', 'force=true'])
      await expect(call(by, `POST /api/v1/deployments/${deployed.version}/promote?${query}`)).rejects.toThrow(
        `403 {"error":"Unauthorized: version ${deployed.version} is older than the current one, and this key can promote newer versions only. A rollback requires a key with the scope write:deployments."`,
      );
    for (const [rejected, body] of [
      [`POST /api/v1/deployments/${deployed.version}/archive`],
      [`POST /api/v1/deployments/${deployed.version}/move`, { to: next.version }],
      [`POST /api/v1/deployments/${next.version}/abort-canary`],
      ['POST /api/v1/runners/runner_x/drain', {}],
      ['POST /api/v1/runners/runner_x/stop'],
    ] as const)
      await expect(call(by, rejected, body)).rejects.toThrow(
        '403 {"error":"Unauthorized: this needs a key with the scope write:deployments, which this key does not have."',
      );
    expect(await call(by, 'GET /api/v1/deployments/current')).toMatchObject({ version: next.version });
  });

  test('reports the error in an invalid request', async () => {
    const { server, keys, ask } = await installation({ maxBundleBytes: mib });
    const key = keys.prod;
    const { body } = bundleOf({});
    const refused = async (change: object) => {
      const bundle = { ...body.bundle, ...change };
      return ask('POST /api/v1/deployments', { key, body: { ...body, bundle } });
    };
    const [file] = body.bundle.files;
    for (const path of ['../a.js', '/a.js', 'a/../../b', './a', 'a//b', 'a\\b', 'a\u0000', ''])
      expect([path, (await refused({ files: [{ ...file, path }] })).status]).toEqual([path, 400]);
    expect((await refused({ nodeMajor: 8 })).status).toBe(400);
    expect((await refused({ layers: [{ ...file, platform: 'plan9' }] })).status).toBe(400);
    const large = bundleOf({ 'a.bin': randomBytes(2 * mib) });
    const tooLarge = await ask('POST /api/v1/deployments', { key, body: large.body });
    expect(tooLarge).toMatchObject({
      status: 413,
      body: { error: expect.stringMatching(/2\.0 MiB compressed; at most 1\.0 MiB/) as string },
    });
    const cron = {
      ...body,
      tasks: [{ id: 'send', filePath: 't.ts', schedule: { cron: 'x', timezone: 'UTC' } }],
    };
    expect(await ask('POST /api/v1/deployments', { key, body: cron })).toMatchObject({
      status: 422,
      body: { error: expect.stringMatching(/^Task "send" in t\.ts: /) as string },
    });
    const created = await ask('POST /api/v1/deployments', { key, body });
    const at = `${server.url}/api/v1/deployments/${created.body.id}/blobs/${file!.blob}`;
    const put = (type: string, query = '') =>
      fetch(at + query, {
        method: 'PUT',
        headers: { authorization: `Bearer ${key}`, 'content-type': type },
        body: 'x',
      });
    expect((await put('text/plain')).status).toBe(415);
    expect((await put('application/octet-stream', '?offset=-1')).status).toBe(400);
    const gap = await put('application/octet-stream', '?offset=5');
    expect([gap.status, await gap.json()]).toEqual([
      409,
      { error: expect.stringMatching(/Continue with offset=0/) as string, received: 0 },
    ]);
    expect((await ask('GET /api/v1/deployments?page[after]=deployment_none', { key })).status).toBe(400);
    expect((await ask('GET /api/v1/deployments?from=yesterday', { key })).status).toBe(400);
    expect((await ask('GET /api/v1/deployments/current', { key })).status).toBe(404);
    expect((await ask('GET /api/v1/deployments/latest', { key })).body).toMatchObject({ state: 'uploading' });
    const early = await ask(`GET /runner/v1/versions/${created.body.version}/bundle`, { key });
    expect(early).toMatchObject({
      status: 404,
      body: { error: expect.stringMatching(/being uploaded/) as string },
    });
  });
});

test('registering outside dev creates a version that is not current, and never changes the current one', async () => {
  const { server, keys, ask } = await installation();
  const register = async (key: string, contentHash: string) =>
    (
      await ask('POST /runner/v1/versions', {
        key,
        body: { contentHash, tasks: [{ id: 'send', filePath: 't.ts' }] },
      })
    ).body as { version: string; isNew: boolean; isCurrent: boolean };
  for (const key of [keys.stg, keys.prod]) {
    const to = { url: server.url, key };
    const old = await register(key, 'content-old');
    expect(old).toMatchObject({ isNew: true, isCurrent: false });
    const { version } = await deploy(to);
    await call(to, `POST /api/v1/deployments/${version}/promote?force=true`);
    // An old runner that restarts repeatedly.
    for (let n = 0; n < 10; n++)
      expect(await register(key, 'content-old')).toEqual({ ...old, isNew: false, isCurrent: false });
    expect(await call(to, 'GET /api/v1/deployments/current')).toMatchObject({ version, isUploaded: true });
    await call(to, `POST /api/v1/deployments/${old.version}/promote?force=true&allowRollbacks=true`);
    expect(await register(key, 'content-old')).toMatchObject({ isCurrent: true });
  }
  expect(await register(keys.dev, 'content-old')).toMatchObject({ isNew: true, isCurrent: true });
});
