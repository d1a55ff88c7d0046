import { execFileSync, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { BundleCache } from './cache.ts';
import { BundleSource, type FetchedBundle } from './source.ts';
import { bundleServer, type BundleServer } from './testing/bundle-server.ts';
import { mountSmallDisk, needsMount } from '../../../../test/support/small-disk.ts';

const large = 2 ** 40;
const files = { 'tasks/a.mjs': 'export const a = 1;', 'shared/b.mjs': 'export const b = 2;' };

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cache-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const sourceOf = ({ url, secretKey }: BundleServer, patienceMs = 5_000): BundleSource =>
  new BundleSource({ url, secretKey, signal: new AbortController().signal, patienceMs });

function cacheIn(folder: string, limit = large): BundleCache {
  const cache = new BundleCache(folder, limit);
  onTestFinished(() => cache.end());
  return cache;
}

const open = (cache: BundleCache, server: BundleServer, bundle: FetchedBundle) =>
  cache.open(sourceOf(server), bundle, bundle.layers[0]);

const layer = (size = 10) => [
  { header: { name: 'node_modules/', type: 'directory' as const, size: 0 } },
  { header: { name: 'node_modules/sharp/index.js', size, mode: 0o755 }, body: 'x'.repeat(size) },
  { header: { name: 'node_modules/link', type: 'symlink' as const, size: 0, linkname: 'sharp' } },
];

/** Another process that opens a version and keeps running. */
async function another(folder: string, server: BundleServer, version: string, limit = large) {
  const child = fork(
    fileURLToPath(new URL('testing/fetching-process.ts', import.meta.url)),
    [folder, String(limit), server.url, server.secretKey, version],
    { silent: true, execArgv: ['--no-warnings'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const opened = once(child.stdout!, 'data').then(([data]) => String(data).trim());
  return { child, opened };
}

test('unpacks a version with its packages once for all processes', async () => {
  const server = await bundleServer();
  const bundle = await server.add('1', files, { packages: layer() });
  const folder = await newFolder();
  const dir = await open(cacheIn(folder), server, bundle);
  expect(dir).toBe(join(folder, bundle.contentHash));
  expect(await readFile(join(dir, 'tasks/a.mjs'), 'utf8')).toBe(files['tasks/a.mjs']);
  expect(await readFile(join(dir, 'node_modules/link/index.js'), 'utf8')).toBe('x'.repeat(10));
  expect((await stat(join(dir, 'node_modules/sharp/index.js'))).mode & 0o111).not.toBe(0);
  expect(await readdir(join(folder, '.new'))).toEqual([]);
  expect(server.ranges).toHaveLength(3);
  await open(cacheIn(folder), server, bundle);
  expect(server.ranges).toHaveLength(3);
});

test.each([
  ['a file of the bundle is changed', 'tasks/a.mjs'],
  ['a file of a package is changed', 'node_modules/sharp/index.js'],
])('fetches changed content of the cache again: %s', async (_, path) => {
  const server = await bundleServer();
  const bundle = await server.add('1', files, { packages: layer() });
  const folder = await newFolder();
  const dir = await open(cacheIn(folder), server, bundle);
  const right = await readFile(join(dir, path), 'utf8');
  await writeFile(join(dir, path), 'changed');
  await open(cacheIn(folder), server, bundle);
  expect(await readFile(join(dir, path), 'utf8')).toBe(right);
});

test('fetches a removed file, or one replaced by a link, again', async () => {
  const server = await bundleServer();
  const bundle = await server.add('1', files);
  const folder = await newFolder();
  const dir = await open(cacheIn(folder), server, bundle);
  await rm(join(dir, 'tasks/a.mjs'));
  await rm(join(dir, 'shared/b.mjs'));
  await writeFile(join(folder, 'same.mjs'), files['shared/b.mjs']);
  await symlink(join(folder, 'same.mjs'), join(dir, 'shared/b.mjs'));
  await open(cacheIn(folder), server, bundle);
  expect(existsSync(join(dir, 'tasks/a.mjs'))).toBe(true);
  expect((await readdir(join(dir, 'shared'), { withFileTypes: true }))[0]?.isFile()).toBe(true);
});

test('a download resumes after a lost connection, and waits for an unavailable server', async () => {
  const server = await bundleServer();
  const noise = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('');
  const bundle = await server.add('1', { 'a.mjs': noise });
  let broken = 0;
  server.answer = (data, request, response) => {
    broken += 1;
    if (broken === 1) {
      response.writeHead(503).end();
      return true;
    }
    if (broken > 3) return false;
    const from = Number(/\d+/.exec(request.headers.range ?? '0')?.[0]);
    response.writeHead(from > 0 ? 206 : 200);
    response.write(data.subarray(from, from + 40_000), () => setTimeout(() => response.destroy(), 50));
    return true;
  };
  const dir = await open(cacheIn(await newFolder()), server, bundle);
  expect(await readFile(join(dir, 'a.mjs'), 'utf8')).toBe(noise);
  const [first, second, third, last] = server.ranges;
  expect([first, second]).toEqual([undefined, undefined]);
  expect([third, last].map((range) => /^bytes=[1-9]\d+-$/.test(range ?? ''))).toEqual([true, true]);
});

test('resumes a download from a server without range support', async () => {
  const server = await bundleServer();
  const bundle = await server.add('1', { 'a.mjs': 'x'.repeat(100) + Math.random() });
  let times = 0;
  server.answer = (data, _request, response) => {
    times += 1;
    if (times === 1)
      response.writeHead(200).write(data.subarray(0, 20), () => setTimeout(() => response.destroy(), 50));
    else response.writeHead(200).end(data);
    return true;
  };
  const dir = await open(cacheIn(await newFolder()), server, bundle);
  expect((await readFile(join(dir, 'a.mjs'), 'utf8')).startsWith('xxx')).toBe(true);
});

test('rejects damaged content after three attempts, and leaves no files', async () => {
  const server = await bundleServer();
  const bundle = await server.add('1', files);
  const folder = await newFolder();
  server.answer = (data, _request, response) => {
    const wrong = Buffer.from(data);
    wrong[wrong.length - 9] = (wrong[wrong.length - 9] ?? 0) ^ 1;
    response.end(wrong);
    return true;
  };
  const cache = cacheIn(folder);
  await expect(open(cache, server, bundle)).rejects.toThrow(/\(fetched 3 times\)/);
  expect(existsSync(join(folder, bundle.contentHash))).toBe(false);
  expect(await readdir(join(folder, '.new'))).toEqual([]);
  server.answer = () => false;
  await open(cache, server, bundle);
});

test('rejects content larger than declared or with another digest', async () => {
  const server = await bundleServer();
  const bundle = await server.add('1', { 'a.mjs': 'x'.repeat(1_000_000) });
  const [file] = bundle.files;
  const cache = cacheIn(await newFolder());
  const declared = async (change: Partial<NonNullable<typeof file>>) =>
    open(cache, server, { ...bundle, files: [{ ...file!, ...change }] });
  await expect(declared({ size: 10 })).rejects.toThrow('a.mjs is larger than declared');
  await expect(declared({ size: 1_000_001 })).rejects.toThrow('does not match its declared digest');
  await expect(declared({ digest: '0'.repeat(64) })).rejects.toThrow('does not match its declared digest');
});

test('the error for a version that the server lacks contains its message; an unavailable server is an error as well', async () => {
  const server = await bundleServer();
  await expect(sourceOf(server).bundle('2')).rejects.toThrow(
    'the server responded with 404: There is no version 2.',
  );
  await server.close();
  await expect(sourceOf(server, 300).bundle('1')).rejects.toThrow(/sent no data for 0 s: .*ECONNREFUSED/);
});

const at = (name: string, more: object = {}) => ({
  header: { name, size: 0, ...more },
});
test.each([
  ['a path above', [at('node_modules/../../evil')], 'leaves the layer'],
  ['an absolute path', [at('/etc/evil')], 'leaves the layer'],
  ['a path next to it', [at('evil')], 'not in node_modules'],
  ['a device', [at('node_modules/x', { type: 'character-device' })], 'a character-device'],
  ['a pipe', [at('node_modules/x', { type: 'fifo' })], 'a fifo'],
  ['a link out', [at('node_modules/x', { type: 'symlink', linkname: '../../x' })], 'a link that leaves'],
  ['a link to a root', [at('node_modules/x', { type: 'symlink', linkname: '/etc' })], 'a link that leaves'],
  ['a hard link out', [at('node_modules/x', { type: 'link', linkname: '../x' })], 'a link that leaves'],
] as const)('rejects a layer with %s', async (_, packages, why) => {
  const server = await bundleServer();
  const bundle = await server.add('1', files, { packages: [...layer(), ...packages] });
  const folder = await newFolder();
  await expect(open(cacheIn(folder), server, bundle)).rejects.toThrow(why);
  expect(await readdir(join(folder, '.new'))).toEqual([]);
  expect(await readdir(join(folder, 'layers'))).toEqual([]);
});

test('rejects a layer whose links together leave it', async () => {
  const server = await bundleServer();
  const bundle = await server.add('1', files, {
    packages: [
      at('node_modules/a/b/', { type: 'directory' }),
      // Judging by its name it stays inside, but it resolves relative to the target of the other link.
      at('node_modules/a/b/up', { type: 'symlink', linkname: '../../z' }),
      at('node_modules/z', { type: 'symlink', linkname: '.' }),
      at('node_modules/out', { type: 'symlink', linkname: 'a/b/up/../../../..' }),
    ],
  });
  await expect(open(cacheIn(await newFolder()), server, bundle)).rejects.toThrow(/layer|symlink|link/i);
});

test('rejects a path that leaves the folder of its bundle', async () => {
  const server = await bundleServer();
  const bundle = await server.add('1', { '../evil.mjs': 'x' });
  await expect(open(cacheIn(await newFolder()), server, bundle)).rejects.toThrow('not allowed');
  const other = { ...(await server.add('2', files)), contentHash: '../../evil' };
  await expect(open(cacheIn(await newFolder()), server, other)).rejects.toThrow('is invalid');
});

test('evicts the least recently used entries above its limit, but none in use', async () => {
  const server = await bundleServer();
  const bundles: FetchedBundle[] = [];
  for (let n = 0; n < 4; n += 1)
    bundles.push(await server.add(String(n), { 'a.mjs': String(n).repeat(1_000) }));
  const folder = await newFolder();
  const cache = cacheIn(folder, 2_500);
  for (const bundle of bundles) {
    await open(cache, server, bundle);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const there = () => bundles.map(({ contentHash }) => existsSync(join(folder, contentHash)));
  expect(await cache.isOver()).toBe(true);
  await cache.makeRoom();
  expect(there()).toEqual([true, true, true, true]);
  const other = await another(folder, server, '0');
  await other.opened;
  await cache.close(['0', '1', '2']);
  await cache.makeRoom();
  expect(there()).toEqual([true, false, false, true]);
  // Entries used by a killed process are not retained.
  other.child.kill('SIGKILL');
  await once(other.child, 'exit');
  await cacheIn(folder, 1_500).makeRoom();
  expect(there()).toEqual([false, false, false, true]);
  expect(await readdir(join(folder, '.new'))).toEqual([]);
});

test('two processes that fetch a version at the same time share it, even if one is killed', async () => {
  const server = await bundleServer();
  const bundle = await server.add('1', files, { packages: layer(100_000) });
  const folder = await newFolder();
  let arrived!: () => void;
  const midway = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let count = 0;
  server.answer = (data, _request, response) => {
    count += 1;
    if (count > 2) return false;
    // Sends only the first byte of each layer.
    response.writeHead(200).write(data.subarray(0, 1));
    if (count === 2) arrived();
    return true;
  };
  const [killed, slow] = [await another(folder, server, '1'), await another(folder, server, '1')];
  await midway;
  expect(await readdir(join(folder, '.new'))).toHaveLength(2);
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  const dir = await open(cacheIn(folder), server, bundle);
  expect(await readFile(join(dir, 'tasks/a.mjs'), 'utf8')).toBe(files['tasks/a.mjs']);
  // The partial download of the killed process is gone, but that of the other process is not.
  expect(await readdir(join(folder, '.new'))).toHaveLength(1);
  // It requests the content again and finds it in place.
  server.http.closeAllConnections();
  expect(await slow.opened).toBe(dir);
  expect(await readdir(join(folder, '.new'))).toEqual([]);
}, 30_000);

test('all versions opened at the same time count as used', async () => {
  const server = await bundleServer();
  const folder = await newFolder();
  const cache = cacheIn(folder);
  const bundles = await Promise.all(
    Array.from({ length: 8 }, (_, n) => server.add(String(n), { 'a.mjs': `${n}` })),
  );
  await Promise.all(bundles.map((bundle) => open(cache, server, bundle)));
  await cache.makeRoom(0);
  for (const { contentHash } of bundles) expect(existsSync(join(folder, contentHash, 'a.mjs'))).toBe(true);
});

/** A disk of one megabyte; undefined if this process may not create one. */
async function smallDisk(): Promise<string | undefined> {
  const folder = await newFolder();
  const unmount = mountSmallDisk(folder, 'size=1m');
  if (!unmount) return undefined;
  onTestFinished(unmount);
  return folder;
}

test('on a full disk, evicts unused entries, and rejects a version that still does not fit', async (context) => {
  const folder = await smallDisk();
  if (folder === undefined) return context.skip(needsMount);
  const server = await bundleServer();
  const noise = (): string => randomBytes(300_000).toString('hex');
  const [first, second] = [
    await server.add('1', { 'a.mjs': noise() }),
    await server.add('2', { 'a.mjs': noise() }),
  ];
  const huge = await server.add('3', { 'a.mjs': noise(), 'b.mjs': noise() });
  const cache = cacheIn(folder);
  await open(cache, server, first);
  await expect(open(cache, server, second)).rejects.toThrow(/disk of the cache .* is full$/);
  await cache.close(['1']);
  const dir = await open(cache, server, second);
  expect((await readFile(join(dir, 'a.mjs'))).length).toBe(600_000);
  await cache.close(['2']);
  await expect(open(cache, server, huge)).rejects.toThrow(/disk of the cache .* is full$/);
  expect(await readdir(join(folder, '.new'))).toEqual([]);
});

test('rejects a cache folder that is not writable', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'file'), '');
  await expect(cacheIn(join(folder, 'file')).prepare()).rejects.toThrow('not a folder');
  await mkdir(join(folder, 'x'));
});

test('reports a disk that is read-only or becomes read-only', async (context) => {
  const folder = await smallDisk();
  if (folder === undefined) return context.skip(needsMount);
  const remount = (mode: string): void =>
    void execFileSync('mount', ['-o', `remount,${mode}`, folder], { stdio: 'ignore' });
  remount('ro');
  await expect(cacheIn(folder).prepare()).rejects.toThrow(/is not writable \(EROFS\)/);
  remount('rw');
  const server = await bundleServer();
  const cache = cacheIn(folder);
  await cache.prepare();
  remount('ro');
  await expect(open(cache, server, await server.add('1', { 'a.mjs': 'a' }))).rejects.toThrow(
    /is not writable \(EROFS\)/,
  );
});
