import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { bundleOf, sha256, type TestBundle } from '../deployments/testing/bundle.ts';
import { testDeployments, type TestDeployments } from '../deployments/testing/deployments.ts';
import { startS3Server } from '../deployments/testing/s3-server.ts';
import { strictS3 } from '../deployments/testing/strict-s3.ts';
import { checkStoredBlobs } from './check.ts';
import { baseOf, openS3Store } from './s3.ts';

const mib = 1_048_576;
const unexpected = (why: string): void => {
  throw new Error(why);
};
const blobsOf = ({ blobs }: TestBundle): string[] => [...blobs.keys()].toSorted();
const pieces = async ({ sql }: TestDeployments) => (await sql`select from blob_pieces`).length;
/** The blobs that have an object, from the keys `<project>/<blob>.<random>`. */
const storedBlobs = (keys: Iterable<string>): string[] =>
  [...keys]
    .map((key) => /^millrace\/files\/\d+\/([0-9a-f]{64})\.[0-9a-f]{16}$/.exec(key)?.[1] ?? key)
    .toSorted();

test('blobs are in the store once they are verified, and are read from there from any byte', async () => {
  const s3 = await startS3Server();
  const t = await testDeployments(await openS3Store(s3.settings, unexpected));
  expect(await s3.objects()).toEqual(new Map());
  const large = randomBytes(3 * mib);
  const bundle = bundleOf({ 'a.js': 'a' }, { layers: { 'linux-x64-glibc': large } });
  const created = await t.create(bundle.body);
  await t.send(created, bundle);
  expect(await pieces(t)).toBeGreaterThan(3);
  expect((await s3.objects()).size).toBe(0);
  await t.finalize(created);
  expect(storedBlobs((await s3.objects()).keys())).toEqual(blobsOf(bundle));
  expect(await pieces(t)).toBe(0);
  for (const [blob, data] of bundle.blobs) {
    expect((await t.fetch(created.version, blob)).equals(data)).toBe(true);
    const start = data.length - 1;
    expect((await t.fetch(created.version, blob, start)).equals(data.subarray(start))).toBe(true);
  }
  // Known content is neither uploaded nor stored again.
  const next = bundleOf({ 'a.js': 'b' }, { layers: { 'linux-x64-glibc': large } });
  expect((await t.deploy(next)).missing).toHaveLength(1);
  expect((await s3.objects()).size).toBe(bundle.blobs.size + 1);
});

test('objects of archived versions, and leftovers of a process that died, are deleted', async () => {
  const s3 = await startS3Server();
  const store = await openS3Store(s3.settings, unexpected);
  const t = await testDeployments(store);
  const first = bundleOf({ 'a.js': 'a' });
  const second = bundleOf({ 'a.js': 'b' });
  const { version } = await t.deploy(first);
  await t.deploy(second);
  // A process died after it had uploaded an object, and before a blob referred to it.
  await t.sql`insert into blob_objects (key, created_at) values ('1/left', ${new Date(t.engine.clock.now())})`;
  await store.put(
    '1/left',
    4,
    sha256('left'),
    (async function* once() {
      yield Buffer.from('left');
    })(),
  );
  expect((await s3.objects()).size).toBe(5);
  await t.archive(version);
  t.engine.clock.shift(3_700_000);
  await s3.stop();
  // While the store is unavailable, nothing is forgotten.
  await expect(t.prune()).rejects.toThrow(/does not respond/);
  await s3.start();
  await t.prune();
  expect(storedBlobs((await s3.objects()).keys())).toEqual(blobsOf(second));
  expect(await t.sql`select from blob_objects where not in_use`).toHaveLength(0);
  // The same content must be uploaded again.
  expect((await t.deploy(first)).missing).toHaveLength(1);
});

test("a deleted project's blobs are deleted", async () => {
  const s3 = await startS3Server();
  const t = await testDeployments(await openS3Store(s3.settings, unexpected));
  await t.deploy(bundleOf({}));
  await t.sql`delete from version_blobs`;
  await t.sql`delete from blobs`;
  t.engine.clock.shift(3_700_000);
  await t.prune();
  expect((await s3.objects()).size).toBe(0);
});

test('while the store is unavailable, uploads continue, finalizing is retried, and downloads report the reason', async () => {
  const s3 = await startS3Server();
  const t = await testDeployments(await openS3Store(s3.settings, unexpected));
  const bundle = bundleOf({ 'a.js': 'a', 'b.js': randomBytes(2 * mib) });
  const created = await t.create(bundle.body);
  await s3.stop();
  await t.send(created, bundle);
  const away = {
    status: 503,
    message: expect.stringMatching(
      /^The store s3:\/\/bundles\/millrace\/files does not respond: .*\. Try again\.$/,
    ) as string,
  };
  await expect(t.finalize(created)).rejects.toMatchObject(away);
  expect((await t.show(created.version)).state).toBe('uploading');
  // Uploaded blobs are kept, so nothing is resent.
  expect(await t.create(bundle.body)).toMatchObject({ id: created.id, missing: [] });
  await s3.start();
  expect(await t.finalize(created)).toMatchObject({ state: 'ready' });
  expect(storedBlobs((await s3.objects()).keys())).toEqual(blobsOf(bundle));
  const [blob] = blobsOf(bundle);
  await s3.stop();
  await expect(t.fetch(created.version, blob!)).rejects.toMatchObject(away);
  await s3.start();
  expect(await t.fetch(created.version, blob!)).toEqual(bundle.blobs.get(blob!));
});

test('a store that stops during an upload or a download leaves nothing incomplete', async () => {
  const s3 = await startS3Server();
  const store = await openS3Store(s3.settings, unexpected);
  const t = await testDeployments(store);
  const bundle = bundleOf({ 'a.bin': randomBytes(4 * mib) });
  const created = await t.create(bundle.body);
  await t.send(created, bundle);
  let left = 2;
  t.setStore({
    ...store,
    put: (key, size, digest, bytes) =>
      store.put(
        key,
        size,
        digest,
        (async function* ends() {
          for await (const part of bytes) {
            yield part;
            left -= 1;
            if (left === 0) await s3.stop();
          }
        })(),
      ),
  });
  await expect(t.finalize(created)).rejects.toMatchObject({ status: 503 });
  expect((await t.show(created.version)).state).toBe('uploading');
  await s3.start();
  t.setStore(store);
  expect(await t.finalize(created)).toMatchObject({ state: 'ready' });
  const [large] = [...bundle.blobs].find(([, data]) => data.length > mib)!;
  const reading = await store.read(await keyOf(t, large), 0, bundle.blobs.get(large)!.length);
  const download = (async () => {
    for await (const part of reading) {
      void part;
      await s3.stop();
    }
  })();
  await expect(download).rejects.toThrow(/does not respond/);
  await s3.start();
  expect((await t.fetch(created.version, large)).equals(bundle.blobs.get(large)!)).toBe(true);
  // The objects of the failed attempt are deleted later.
  t.engine.clock.shift(3_700_000);
  await t.prune();
  expect(storedBlobs((await s3.objects()).keys())).toEqual(blobsOf(bundle));
});

const keyOf = async ({ sql }: TestDeployments, blob: string): Promise<string> =>
  (await sql<{ key: string }[]>`select object_key as key from blobs where digest = ${blob}`)[0]!.key;

test('a blob that does not match its digest never reaches the store', async () => {
  const s3 = await startS3Server();
  const t = await testDeployments(await openS3Store(s3.settings, unexpected));
  const bundle = bundleOf({ 'a.js': 'a' });
  const created = await t.create(bundle.body);
  for (const { blob } of created.missing) {
    const wrong = Buffer.from(bundle.blobs.get(blob)!);
    wrong[wrong.length - 9]! ^= 1;
    await t.put(created, blob, wrong);
  }
  await expect(t.finalize(created)).rejects.toMatchObject({ status: 422 });
  expect((await s3.objects()).size).toBe(0);
});

test('a lost or truncated object is reported as such', async () => {
  const s3 = await startS3Server();
  const t = await testDeployments(await openS3Store(s3.settings, unexpected));
  const bundle = bundleOf({});
  const { version } = await t.deploy(bundle);
  const [first, second] = [...(await s3.objects())];
  const blobOf = (key: string): string => storedBlobs([key])[0]!;
  await rm(first![1]);
  await expect(t.fetch(version, blobOf(first![0]))).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('responded with 404 NoSuchKey') as string,
  });
  await writeFile(second![1], (await readFile(second![1])).subarray(1));
  await expect(t.fetch(version, blobOf(second![0]))).rejects.toMatchObject({
    status: 503,
    message: expect.stringMatching(/has \d+ bytes of .*, not \d+/) as string,
  });
});

test('after switching to a store, old blobs are read from the database, and redeployed ones are moved', async () => {
  const s3 = await startS3Server();
  const t = await testDeployments();
  const old = bundleOf({ 'a.js': 'a', 'b.js': 'b' });
  const before = await t.deploy(old);
  const count = await pieces(t);
  t.setStore(await openS3Store(s3.settings, unexpected));
  for (const [blob, data] of old.blobs) expect(await t.fetch(before.version, blob)).toEqual(data);
  const next = bundleOf({ 'a.js': 'a', 'b.js': 'c' });
  const after = await t.deploy(next);
  expect(after.missing).toHaveLength(1);
  expect(storedBlobs((await s3.objects()).keys())).toEqual(blobsOf(next));
  expect(await pieces(t)).toBe(count - 3);
  for (const [blob, data] of old.blobs) expect(await t.fetch(before.version, blob)).toEqual(data);
  for (const [blob, data] of next.blobs) expect(await t.fetch(after.version, blob)).toEqual(data);
  // A server without the store cannot serve them and does not start.
  t.setStore(undefined);
  const moved = blobsOf(next).find((blob) => !old.blobs.has(blob))!;
  await expect(t.fetch(after.version, moved)).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('MILLRACE_BUNDLE_STORE') as string,
  });
  await expect(checkStoredBlobs(t.sql, undefined, unexpected)).rejects.toThrow(
    /MILLRACE_BUNDLE_STORE is not set/,
  );
  const empty = await startS3Server();
  const other = await openS3Store({ ...empty.settings, prefix: '' }, unexpected);
  const lacking: string[] = [];
  await checkStoredBlobs(t.sql, other, (key) => lacking.push(key));
  expect(lacking).toEqual([expect.stringMatching(/^\d+\/[0-9a-f]{64}\.[0-9a-f]{16}$/)]);
  await checkStoredBlobs(t.sql, await openS3Store(s3.settings, unexpected), unexpected);
});

test('two processes that move the same blob at once store it once', async () => {
  const s3 = await startS3Server();
  const t = await testDeployments(await openS3Store(s3.settings, unexpected));
  const bundles = [1, 2, 3, 4].map((n) => bundleOf({ 'shared.bin': 'x'.repeat(100_000), 'n.js': String(n) }));
  await Promise.all(
    bundles.map(async (bundle) => {
      const created = await t.create(bundle.body);
      await t.send(created, bundle);
      await t.finalize(created);
    }),
  );
  t.engine.clock.shift(3_700_000);
  await t.prune();
  expect(storedBlobs((await s3.objects()).keys())).toEqual([...new Set(bundles.flatMap(blobsOf))].toSorted());
  expect(await pieces(t)).toBe(0);
});

test.each([
  [
    'a missing bucket',
    { bucket: 'nowhere' },
    /^MILLRACE_BUNDLE_STORE: no bucket "nowhere" at http:\/\/127\.0\.0\.1:\d+\. Create it, or use another bucket\.$/,
  ],
  ['an unknown key', { accessKeyId: 'NOBODY' }, /rejected a test object: 403 InvalidAccessKeyId/],
])('a store is rejected by name for %s', async (_, changes, sentence) => {
  const s3 = await startS3Server();
  await expect(openS3Store({ ...s3.settings, ...changes }, unexpected)).rejects.toMatchObject({
    name: 'StoreRefused',
    message: expect.stringMatching(sentence) as string,
  });
});

test('requests are signed as documented by Amazon, and the store rejects bytes that do not match their digest', async () => {
  const s3 = await startS3Server();
  const settings = { ...s3.settings, prefix: 'a.b/c_d-e', endpoint: await strictS3(s3.settings) };
  const store = await openS3Store(settings, unexpected);
  const t = await testDeployments(store);
  const bundle = bundleOf({ 'a.bin': randomBytes(2 * mib) });
  const { version } = await t.deploy(bundle);
  for (const [blob, data] of bundle.blobs) {
    expect((await t.fetch(version, blob)).equals(data)).toBe(true);
    expect((await t.fetch(version, blob, 3)).equals(data.subarray(3))).toBe(true);
  }
  expect(await store.has('nothing')).toBe(false);
  const put = (digest: string) =>
    store.put(
      '1/x',
      4,
      digest,
      (async function* once() {
        yield Buffer.from('data');
      })(),
    );
  await put(sha256('data'));
  await expect(put(sha256('other'))).rejects.toThrow(/responded with 400 XAmzContentSHA256Mismatch/);
  await store.delete('1/x');
  expect((await s3.objects()).size).toBe(bundle.blobs.size);
  await expect(openS3Store({ ...settings, secretAccessKey: 'wrong' }, unexpected)).rejects.toMatchObject({
    name: 'StoreRefused',
    message: expect.stringContaining('rejected a test object: 403 SignatureDoesNotMatch') as string,
  });
});

test('an unavailable or misbehaving store is reported, and can recover', async () => {
  const s3 = await startS3Server();
  await s3.stop();
  const away: string[] = [];
  const store = await openS3Store(s3.settings, (why) => away.push(why));
  expect(away).toEqual([expect.stringContaining('s3://bundles/millrace/files does not respond') as string]);
  await s3.start();
  expect(await store.has('1/x')).toBe(false);
  const busy = createServer((_, response) =>
    response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'),
  );
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void busy.close());
  const endpoint = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
  await openS3Store({ ...s3.settings, endpoint }, (why) => away.push(why));
  expect(away.at(-1)).toBe('The store s3://bundles/millrace/files responded with 503 SlowDown');
});

test('the bucket is in the host name unless path style is configured', () => {
  const settings = {
    bucket: 'my.bucket',
    prefix: 'a/b',
    region: 'eu-west-1',
    accessKeyId: 'K',
    secretAccessKey: 'S',
  };
  const endpoint = 'http://minio:9000/s3/';
  expect(baseOf({ ...settings, pathStyle: false })).toBe('https://my.bucket.s3.eu-west-1.amazonaws.com');
  expect(baseOf({ ...settings, pathStyle: true })).toBe('https://s3.eu-west-1.amazonaws.com/my.bucket');
  expect(baseOf({ ...settings, endpoint, pathStyle: true })).toBe('http://minio:9000/s3/my.bucket');
  expect(baseOf({ ...settings, endpoint, pathStyle: false })).toBe('http://my.bucket.minio:9000/s3');
});

test('an object can be read by a reader that pauses', async () => {
  const s3 = await startS3Server();
  const store = await openS3Store(s3.settings, unexpected);
  const data = randomBytes(mib);
  await store.put(
    '1/x',
    data.length,
    sha256(data),
    (async function* once() {
      yield data;
    })(),
  );
  const read = await store.read('1/x', 5, data.length);
  expect((await buffer(read)).equals(data.subarray(5))).toBe(true);
});
