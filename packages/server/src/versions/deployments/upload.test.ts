import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { maxPieceBytes } from '@millrace/contract/runner';
import { describe, expect, test } from 'vitest';
import { bundleOf, sha256, type TestBundle } from './testing/bundle.ts';
import { testDeployments, type TestDeployments } from './testing/deployments.ts';

const mib = 1_048_576;
const blobOf = ({ body }: TestBundle, path: string) => body.bundle.files.find((file) => file.path === path)!;
const problem = (status: number, message: RegExp) => ({
  status,
  message: expect.stringMatching(message) as string,
});
const blobsIn = async ({ sql }: TestDeployments) => (await sql`select from blobs`).length;

describe('a deployment', () => {
  test('is created, uploaded and finalized once; deploying the same content again returns the same version', async () => {
    const t = await testDeployments();
    const bundle = bundleOf({ 'a.js': 'a'.repeat(10_000) });
    const created = await t.create(bundle.body);
    expect(created).toMatchObject({ state: 'uploading', isNew: true });
    expect(created.missing.map(({ received }) => received)).toEqual([0, 0, 0]);
    await t.send(created, bundle);
    const ready = await t.finalize(created);
    expect(ready).toMatchObject({ state: 'ready', status: 'DEPLOYED', isUploaded: true, tasks: 1 });
    expect(await t.finalize(created)).toEqual(ready);
    expect(await t.create(bundle.body)).toMatchObject({ id: created.id, isNew: false, missing: [] });
    // Regardless of compression and order.
    const other = bundleOf({ 'a.js': 'a'.repeat(10_000) }, { level: 1 });
    const { bundle: content } = other.body;
    const turned = { ...content, files: content.files.toReversed() };
    expect(await t.create({ ...other.body, bundle: turned })).toMatchObject({ id: created.id, isNew: false });
    expect(t.acts).toEqual([`version.uploaded ${created.version}`]);
    expect(await t.engine.versions.fetchable(t.environment.id)).toMatchObject([
      { version: created.version, nodeMajor: 22, platforms: [], requires: [] },
    ]);
  });

  test('uploads only what no other version of the project has', async () => {
    const t = await testDeployments();
    await t.deploy(bundleOf({ 'a.js': 'a', 'b.js': 'b' }));
    const next = bundleOf({ 'a.js': 'a', 'b.js': 'changed' }, { level: 1 });
    const created = await t.create(next.body);
    expect(created.missing).toEqual([{ blob: blobOf(next, 'b.js').blob, received: 0 }]);
    await t.send(created, next);
    expect(await t.finalize(created)).toMatchObject({ state: 'ready' });
  });

  test('with different content creates another version', async () => {
    const t = await testDeployments();
    const versions = new Set<string>();
    const bodies = [
      bundleOf({}),
      bundleOf({ 'a.js': '' }),
      bundleOf({}, { tasks: ['send', 'other'] }),
      bundleOf({}, { bundle: { nodeMajor: 24 } }),
      bundleOf({}, { bundle: { requires: ['gpu'] } }),
      bundleOf({}, { bundle: { defaults: { maxDuration: 60 } } }),
      bundleOf({}, { layers: { 'linux-x64-glibc': Buffer.from('tar') } }),
      bundleOf({}, { more: { tasks: [{ id: 'send', filePath: 'tasks.ts', ttl: 5 }] } }),
    ];
    for (const { body } of bodies) versions.add((await t.create(body)).version);
    expect(versions.size).toBe(bodies.length);
  });

  test('stores the information about its origin', async () => {
    const t = await testDeployments();
    const git = { commit: 'abc', branch: 'main', dirty: true };
    const more = { git, message: 'first', host: 'laptop', sdkVersion: '1.2.3', externalId: ' build-1 ' };
    const { version } = await t.deploy(bundleOf({}, { more: { ...more, externalId: 'build-1' } }));
    expect(await t.show(version)).toMatchObject({
      git,
      message: 'first',
      deployedFrom: 'laptop',
      sdkVersion: '1.2.3',
      externalId: 'build-1',
      runtime: 'node',
      runtimeVersion: '22.11.0',
    });
  });
});

describe('an upload', () => {
  test('continues where it stopped, in chunks, and a repeated chunk changes nothing', async () => {
    const t = await testDeployments();
    const large = randomBytes(3 * mib);
    const bundle = bundleOf({ 'large.bin': large });
    const created = await t.create(bundle.body);
    const { blob } = blobOf(bundle, 'large.bin');
    const data = bundle.blobs.get(blob)!;
    expect(await t.put(created, blob, data.subarray(0, 1_500_000))).toBe(1_500_000);
    expect(await t.put(created, blob, data.subarray(0, 1_000_000))).toBe(1_500_000);
    const again = await t.create(bundle.body);
    expect(again.missing).toContainEqual({ blob, received: 1_500_000 });
    await expect(t.put(created, blob, data.subarray(1_500_001), 1_500_001)).rejects.toMatchObject({
      ...problem(409, /has 1500000 bytes\. Continue with offset=1500000/),
      extra: { received: 1_500_000 },
    });
    // The piece overlaps with stored bytes.
    expect(await t.put(created, blob, data.subarray(1_400_000), 1_400_000)).toBe(data.length);
    expect(await t.put(created, blob, data)).toBe(data.length);
    await t.send(await t.create(bundle.body), bundle);
    expect(await t.finalize(created)).toMatchObject({ state: 'ready' });
    const pieces = await t.sql<{ bytes: number }[]>`select max(length(data)) as bytes from blob_pieces`;
    expect(pieces[0]!.bytes).toBeLessThanOrEqual(mib);
  });

  test('of the same blob by many clients at once stores it once', async () => {
    const t = await testDeployments();
    const bundle = bundleOf({ 'large.bin': randomBytes(4 * mib) });
    const created = await t.create(bundle.body);
    await Promise.all(Array.from({ length: 4 }, () => t.send(created, bundle)));
    await Promise.all([t.finalize(created), t.finalize(created)]);
    expect(await t.show(created.version)).toMatchObject({ state: 'ready' });
    expect(t.acts).toEqual([`version.uploaded ${created.version}`]);
    const [sum] = await t.sql<{ exact: boolean }[]>`
      select bool_and(b.size = (select sum(length(p.data)) from blob_pieces p where p.blob = b.digest)) as exact from blobs b`;
    expect(sum).toEqual({ exact: true });
  });

  test('of more than the declared size, or of a blob of another deployment, is rejected', async () => {
    const t = await testDeployments();
    const bundle = bundleOf({});
    const created = await t.create(bundle.body);
    const { blob, blobSize } = blobOf(bundle, 'sdk.js');
    await expect(t.put(created, blob, Buffer.alloc(blobSize + 1))).rejects.toMatchObject(
      problem(422, /declared with \d+ bytes, but more were sent/),
    );
    await expect(t.put(created, '0'.repeat(64), Buffer.alloc(1))).rejects.toMatchObject(
      problem(404, /has no blob 0000/),
    );
    await expect(t.put({ id: 'deployment_none' }, blob, Buffer.alloc(1))).rejects.toMatchObject(
      problem(404, /no version "deployment_none"/),
    );
  });

  test('by two clients that compress the same content differently becomes one version, in any order', async () => {
    const t = await testDeployments();
    const content = { 'a.js': 'a'.repeat(50_000) };
    const [fast, small] = [bundleOf(content, { level: 1 }), bundleOf(content, { level: 9 })];
    const [first, second] = [await t.create(fast.body), await t.create(small.body)];
    expect(second.id).toBe(first.id);
    expect(second.missing).not.toEqual(first.missing);
    await t.send(first, fast);
    expect(await t.finalize(second)).toMatchObject({ state: 'ready' });
    const [row] = await t.sql<{ bundle: TestBundle['body']['bundle'] }[]>`select bundle from versions`;
    expect(row!.bundle.files.map(({ blob }) => blob)).toEqual(fast.body.bundle.files.map(({ blob }) => blob));
    expect((await t.sql`select from version_blobs`).length).toBe(3);
  });
});

describe('finalizing', () => {
  test('with a missing chunk reports it, and the upload can continue', async () => {
    const t = await testDeployments();
    const bundle = bundleOf({ 'a.js': 'a' });
    const created = await t.create(bundle.body);
    const { blob } = blobOf(bundle, 'a.js');
    for (const [other, data] of bundle.blobs) if (other !== blob) await t.put(created, other, data);
    await t.put(created, blob, bundle.blobs.get(blob)!.subarray(0, 5));
    await expect(t.finalize(created)).rejects.toMatchObject({
      ...problem(409, /lacks 1 of its 3 contents/),
      extra: { missing: [{ blob, received: 5 }] },
    });
    await t.send(await t.create(bundle.body), bundle);
    expect(await t.finalize(created)).toMatchObject({ state: 'ready' });
  });

  const wrong: [string, (bundle: TestBundle) => TestBundle, RegExp][] = [
    [
      'bytes that do not match the digest of the blob',
      (bundle) => {
        const { blob, blobSize } = blobOf(bundle, 'a.js');
        const other = gzipSync('b'.repeat(1_000));
        return {
          ...bundle,
          blobs: new Map([
            ...bundle.blobs,
            [blob, Buffer.concat([other, Buffer.alloc(blobSize)]).subarray(0, blobSize)],
          ]),
        };
      },
      /^a\.js: (the uploaded data does not match the digest|it unpacks|it is not compressed)/,
    ],
    [
      'content with a different digest',
      (bundle) => withFile(bundle, { digest: sha256('something else') }),
      /^a\.js: its content does not match the declared digest/,
    ],
    [
      'content that is longer than declared',
      (bundle) => withFile(bundle, { size: 999 }),
      /^a\.js: it unpacks to more than the declared 999 bytes/,
    ],
    [
      'content in several chunks that is longer than declared',
      (bundle) => {
        const data = gzipSync(randomBytes(3 * maxPieceBytes));
        const blob = sha256(data);
        const changed = withFile(bundle, { blob, blobSize: data.length, size: 1_000 });
        return { ...changed, blobs: new Map([...bundle.blobs, [blob, data]]) };
      },
      /^a\.js: it unpacks to more than the declared 1000 bytes/,
    ],
    [
      'content that is shorter than declared',
      (bundle) => withFile(bundle, { size: 1_001 }),
      /^a\.js: it unpacks to 1000 bytes, but 1001/,
    ],
    [
      'data that is not compressed',
      (bundle) => {
        const data = Buffer.from('not compressed');
        const blob = sha256(data);
        const changed = withFile(bundle, { blob, blobSize: data.length });
        return { ...changed, blobs: new Map([...bundle.blobs, [blob, data]]) };
      },
      /^a\.js: it is not compressed with gzip/,
    ],
    [
      'truncated data',
      (bundle) => {
        const data = bundle.blobs.get(blobOf(bundle, 'a.js').blob)!.subarray(0, -4);
        const blob = sha256(data);
        const changed = withFile(bundle, { blob, blobSize: data.length });
        return { ...changed, blobs: new Map([...bundle.blobs, [blob, data]]) };
      },
      /^a\.js: it is not compressed with gzip, or is cut off/,
    ],
  ];
  function withFile(bundle: TestBundle, change: object): TestBundle {
    const { files } = bundle.body.bundle;
    const changed = files.map((file) => (file.path === 'a.js' ? { ...file, ...change } : file));
    return { ...bundle, body: { ...bundle.body, bundle: { ...bundle.body.bundle, files: changed } } };
  }

  test.each(wrong)(
    'fails the deployment of %s, and the next one is another version',
    async (_, spoil, says) => {
      const t = await testDeployments();
      const good = bundleOf({ 'a.js': 'a'.repeat(1_000) });
      const bad = spoil(good);
      const created = await t.create(bad.body);
      await t.send(created, bad);
      await expect(t.finalize(created)).rejects.toMatchObject(problem(422, says));
      expect(await t.show(created.version)).toMatchObject({
        state: 'failed',
        status: 'FAILED',
        error: { name: 'VerificationError', message: expect.stringMatching(says) },
      });
      await expect(t.promoteTo(created.version)).rejects.toMatchObject(problem(409, /failed \(a\.js: /));
      await expect(t.finalize(created)).rejects.toMatchObject(problem(409, /failed/));
      await expect(t.put(created, good.body.bundle.files[0]!.blob, Buffer.alloc(1))).rejects.toMatchObject(
        problem(409, /failed/),
      );
      const next = await t.deploy(good);
      expect(next.version).not.toBe(created.version);
      expect(await t.show(next.version)).toMatchObject({ state: 'ready' });
    },
  );
});

describe('creating rejects', () => {
  const file = bundleOf({}).body.bundle.files[0]!;
  const cases: [string, object, number, RegExp][] = [
    ['a duplicate path', { files: [file, file] }, 422, /duplicate path "sdk\.js"/],
    [
      'a file that is also a folder',
      { files: [...bundleOf({}).body.bundle.files, { ...file, path: 'sdk.js/x' }] },
      422,
      /"sdk\.js" is a file and the folder of "sdk\.js\/x"/,
    ],
    [
      'a file in the place of the layer',
      { files: [...bundleOf({}).body.bundle.files, { ...file, path: 'node_modules/x.js' }] },
      422,
      /node_modules is reserved for the layer/,
    ],
    ['a missing SDK file', { sdk: 'none.js' }, 422, /bundle\.sdk: the file "none\.js" is missing/],
    [
      'a missing module',
      { entries: [{ source: 'tasks.ts', module: 'x.js' }] },
      422,
      /bundle\.entries: the file "x\.js" is missing/,
    ],
    ['a task without code', { tasks: {} }, 422, /bundle\.tasks: the task "send" is missing/],
    [
      'two layers for one platform',
      { layers: [1, 2].map(() => ({ ...file, platform: 'linux-x64-glibc' })) },
      422,
      /more than one layer for linux-x64-glibc/,
    ],
    [
      'two sizes of one content',
      { files: [...bundleOf({}).body.bundle.files, { ...file, path: 'x', size: 1 }] },
      422,
      /declared twice/,
    ],
  ];
  test.each(cases)('%s', async (_, bundle, status, says) => {
    const t = await testDeployments();
    await expect(t.create(bundleOf({}, { bundle }).body)).rejects.toMatchObject(problem(status, says));
    expect(await t.sql`select from versions`).toEqual([]);
    expect(await blobsIn(t)).toBe(0);
  });

  test('two tasks with one id', async () => {
    const t = await testDeployments();
    const tasks = [
      { id: 'send', filePath: 'a.ts' },
      { id: 'send', filePath: 'b.ts' },
    ];
    await expect(t.create(bundleOf({}, { more: { tasks } }).body)).rejects.toMatchObject(
      problem(400, /one in a\.ts, one in b\.ts/),
    );
  });

  test('more than the limit, compressed or unpacked, with both figures', async () => {
    const t = await testDeployments();
    const large = bundleOf({ 'a.bin': randomBytes(2 * mib) });
    await expect(t.create(large.body, mib)).rejects.toMatchObject(
      problem(413, /have 2\.0 MiB compressed; at most 1\.0 MiB/),
    );
    const bomb = bundleOf({ 'a.bin': Buffer.alloc(33 * mib) });
    await expect(t.create(bomb.body, mib)).rejects.toMatchObject(
      problem(413, /have 33\.0 MiB unpacked; at most 32\.0 MiB/),
    );
    expect(await t.sql`select from versions`).toEqual([]);
  });

  test('a blob that exists with different content', async () => {
    const t = await testDeployments();
    const good = bundleOf({ 'a.js': 'a' });
    await t.deploy(good);
    const { files } = good.body.bundle;
    const lie = files.map((each) => (each.path === 'a.js' ? { ...each, digest: sha256('other') } : each));
    await expect(
      t.create({ ...good.body, bundle: { ...good.body.bundle, files: lie } }),
    ).rejects.toMatchObject(problem(422, /has the content/));
  });
});

test('failing a deployment is final, can be repeated, and is rejected once it is ready', async () => {
  const t = await testDeployments();
  const bundle = bundleOf({});
  const created = await t.create(bundle.body);
  expect(await t.fail(created)).toMatchObject({ state: 'failed', error: { message: 'stopped' } });
  expect(await t.fail(created)).toMatchObject({ state: 'failed' });
  const next = await t.deploy(bundle);
  expect(next.id).not.toBe(created.id);
  await expect(t.fail(next)).rejects.toMatchObject(problem(409, /was finalized/));
});
