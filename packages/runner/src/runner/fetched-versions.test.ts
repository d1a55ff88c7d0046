import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ReadableStream } from 'node:stream/web';
import type { Bundle } from '@millrace/contract/runner';
import { expect, onTestFinished, test } from 'vitest';
import { sha256 } from '../bundle-cache/testing/bundle-server.ts';
import { prepare } from '../../../millrace/src/deploy/prepare.ts';
import { loadProject } from '../../../millrace/src/project/load.ts';
import { startRunner } from './start.ts';
import type { RunnerOptions } from './options.ts';
import { isAlive } from './testing/alive.ts';
import { Peer } from './testing/peer.ts';
import { createProject } from './testing/project.ts';
import { tasksFile } from './testing/runner.ts';
import { mountSmallDisk, needsMount } from '../../../../test/support/small-disk.ts';

interface Built {
  readonly bundle: Bundle;
  readonly blobs: ReadonlyMap<string, Buffer>;
}
/** Most tests use the same few projects. */
const built = new Map<string, Promise<Built>>();

async function build(files: Readonly<Record<string, string>>): Promise<Built> {
  const project = await createProject(files);
  try {
    const env = { inherited: { PATH: process.env['PATH'] ?? '' }, added: {} };
    const { bundle, blobs } = await prepare(await loadProject(project.dir), {
      environment: async () => ({ env, secrets: [] }),
    });
    const contents = new Map<string, Buffer>();
    for (const { blob, read } of blobs.values()) contents.set(blob, await buffer(read(0) as ReadableStream));
    return { bundle, blobs: contents };
  } finally {
    await project.remove();
  }
}

/** Adds a version with this task file to a peer. Returns its content hash. */
async function addVersion(
  peer: Peer,
  version: string,
  taskFile: string,
  others: Readonly<Record<string, string>> = {},
): Promise<string> {
  const files = { 'tasks/all.ts': taskFile, ...others };
  const key = JSON.stringify(files);
  const known = built.get(key) ?? build(files);
  built.set(key, known);
  const { bundle, blobs } = await known;
  for (const [blob, content] of blobs) peer.bundles.blobs.set(blob, content);
  const contentHash = sha256(JSON.stringify(bundle));
  peer.bundles.bundles.set(version, { ...bundle, version, contentHash });
  return contentHash;
}

async function start(options: Partial<RunnerOptions> = {}, files: Readonly<Record<string, string>> = {}) {
  const peer = await new Peer().listen();
  for (const [version, file] of Object.entries(files)) await addVersion(peer, version, file);
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'millrace-cache-')));
  const events: string[] = [];
  const runner = await startRunner({
    url: peer.url,
    secretKey: peer.secretKey,
    graceMs: 300,
    cache: { folder },
    labels: ['ffmpeg'],
    ...options,
    events: {
      onStopRequested: () => events.push('stop'),
      onDamaged: (version) => events.push(`${version} damaged`),
      onUnable: (version, why) => events.push(`${version}: ${why}`),
    },
  });
  onTestFinished(async () => {
    await runner.stop({ waitMs: 0 });
    await peer.close();
    await rm(folder, { recursive: true, force: true });
  });
  const served = (): readonly string[] => {
    const last = peer.received.findLast((message) => message.type === 'serve');
    return last?.type === 'serve' ? last.versions : [];
  };
  return { peer, runner, folder, events, served };
}

const say = (text: string): string => tasksFile({ say: `return '${text}';`, hold: 'await sleep(60_000);' });
const of = (version: string) => ({ version });

test('reports its properties, loads requested versions, and serves a run of a version that it has not loaded', async () => {
  const { peer, served, folder } = await start({}, { '1': say('one'), '2': say('two') });
  expect(peer.hellos[0]?.fetches).toEqual({
    nodeMajor: Number.parseInt(process.versions.node, 10),
    platform: expect.stringMatching(/^(linux-(x64|arm64)-(glibc|musl)|darwin-(x64|arm64))$/) as string,
    labels: ['ffmpeg'],
  });
  peer.send({ type: 'load', versions: ['1'] });
  await peer.until(() => served().includes('1'));
  expect(await peer.outcome(peer.assign('say', null, of('2')))).toMatchObject({ output: 'two' });
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toMatchObject({ output: 'one' });
  expect(await peer.outcome(peer.assign('other', null, of('1')))).toEqual({ kind: 'unknownTask' });
  expect(served().toSorted()).toEqual(['1', '2']);
  expect(existsSync(join(folder, peer.bundles.bundles.get('2')!.contentHash))).toBe(true);
}, 30_000);

test('a run that waits for its version can be canceled, and is returned when the runner stops', async () => {
  const { peer, runner } = await start({}, { '1': say('one') });
  let requests = 0;
  peer.bundles.answer = () => {
    requests += 1;
    return true;
  };
  const canceled = peer.assign('say', null, of('1'));
  const waiting = peer.assign('say', null, of('1'));
  await expect.poll(() => requests, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(runner.loading()).toEqual(['1']);
  peer.send({ type: 'cancel', fences: [canceled] });
  expect(await peer.outcome(canceled)).toEqual({ kind: 'canceled' });
  // A heartbeat extends the lease of the other one, no matter how long this takes.
  await peer.until(() => peer.received.some(({ type }) => type === 'heartbeat'));
  expect(peer.outcomes.has(waiting)).toBe(false);
  const stoppedAt = performance.now();
  await runner.stop({ waitMs: 10_000 });
  expect(peer.outcomes.get(waiting)).toEqual({ kind: 'released' });
  expect(performance.now() - stoppedAt).toBeLessThan(5_000);
}, 30_000);

test('a version that cannot be loaded is reported before its runs are returned, and can be loaded later', async () => {
  const { peer, events } = await start({}, { '1': say('one') });
  const bundle = peer.bundles.bundles.get('1')!;
  peer.bundles.bundles.set('1', { ...bundle, requires: ['gpu'] });
  const fence = peer.assign('say', null, of('1'));
  expect(await peer.outcome(fence)).toEqual({ kind: 'released' });
  const types = peer.received
    .map(({ type }) => type)
    .filter((type) => type === 'unable' || type === 'settle');
  expect(types).toEqual(['unable', 'settle']);
  expect(events).toEqual(['1: this runner does not have the label gpu']);
  // Archived.
  peer.bundles.bundles.delete('1');
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toEqual({ kind: 'released' });
  expect(events.at(-1)).toBe('1: the server responded with 404: There is no version 1.');
  peer.bundles.bundles.set('1', bundle);
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toMatchObject({ output: 'one' });
}, 30_000);

test('a version whose process ends during the import is reported with its last output, without secrets', async () => {
  const { peer, events } = await start();
  await addVersion(
    peer,
    '1',
    `if (process.env.BREAK) { console.error('key ' + process.env.BREAK); process.exit(9); }\n${say('one')}`.replace(
      /^(.*\n)(import .*\n)(import .*\n)/,
      '$2$3$1',
    ),
  );
  peer.send({ type: 'variables', variables: { BREAK: 'sk_live_secret' }, secrets: ['BREAK'] });
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toEqual({ kind: 'released' });
  expect(events[0]).toMatch(
    /^1: its task files could not be imported: its process ended \(exit code 9\)\nkey /,
  );
  expect(JSON.stringify([events, peer.received])).not.toContain('sk_live_secret');
}, 30_000);

test('does not execute changed content of the cache', async () => {
  const first = await start({}, { '1': say('one') });
  first.peer.send({ type: 'load', versions: ['1'] });
  await first.peer.until(() => first.served().includes('1'));
  const { contentHash, entries } = first.peer.bundles.bundles.get('1')!;
  await writeFile(join(first.folder, contentHash, entries[0]!.module), 'process.exit(3);');
  const second = await start({ cache: { folder: first.folder } }, { '1': say('one') });
  expect(await second.peer.outcome(second.peer.assign('say', null, of('1')))).toMatchObject({
    output: 'one',
  });
}, 30_000);

test('fetches the files for the next process if the cache is removed while a version is in service', async () => {
  const { peer, folder, served } = await start({}, { '1': say('one'), '2': say('two') });
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toMatchObject({ output: 'one' });
  await rm(folder, { recursive: true });
  // Changed variables require a new process.
  peer.send({ type: 'variables', variables: { A: '1' }, secrets: [] });
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toMatchObject({ output: 'one' });
  expect(await peer.outcome(peer.assign('say', null, of('2')))).toMatchObject({ output: 'two' });
  expect(served().toSorted()).toEqual(['1', '2']);
}, 30_000);

/** The cached file of a version that has this text. */
async function cachedFile(folder: string, text: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  for (const entry of entries.filter((file) => file.isFile())) {
    const file = join(entry.parentPath, entry.name);
    if ((await readFile(file, 'utf8')).includes(text)) return file;
  }
  throw new Error(`no file in ${folder} has ${text}`);
}

/** A runner that has loaded version 1 and executed a run of it; `late` imports its module when it is executed. */
async function serving() {
  const started = await start();
  const { peer, folder } = started;
  const late = tasksFile({
    say: "return 'one';",
    late: "return (await import('../lib/late.ts')).word;",
    own: "return (await import('node:fs')).readFileSync('own.txt', 'utf8');",
    leave: "(await import('node:fs')).writeFileSync('left.txt', 'x');",
  });
  const hash = await addVersion(peer, '1', late, { 'lib/late.ts': "export const word = 'late-word';" });
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toMatchObject({ output: 'one' });
  /** Changed variables require a new process. */
  let changes = 0;
  const newProcess = (): void => {
    changes += 1;
    peer.send({ type: 'variables', variables: { A: String(changes) }, secrets: [] });
  };
  return {
    ...started,
    newProcess,
    taskFile: join(folder, hash, 'tasks/all.ts.mjs'),
    dir: join(folder, hash),
  };
}

test.each([
  ['lost', (file: string) => rm(file)],
  ['changed', (file: string) => writeFile(file, "throw new Error('not the code that was deployed');")],
  [
    'changed to as many bytes, with the time that it had',
    async (file: string) => {
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace('one', 'two'));
      await utimes(file, 1, 1);
    },
  ],
])(
  'a task file of a loaded version that is %s is detected before a process imports it',
  async (_, damage) => {
    const { peer, newProcess, taskFile, events } = await serving();
    const right = await readFile(taskFile, 'utf8');
    await damage(taskFile);
    newProcess();
    expect(await peer.outcome(peer.assign('say', null, of('1')))).toMatchObject({ output: 'one' });
    expect(await readFile(taskFile, 'utf8')).toBe(right);
    expect(events).toEqual(['1 damaged']);
  },
  30_000,
);

test('an attempt that fails because of a lost module is returned, and the next one succeeds', async () => {
  const { peer, folder, events, served } = await serving();
  await rm(await cachedFile(folder, 'late-word'));
  expect(await peer.outcome(peer.assign('late', null, of('1')))).toEqual({ kind: 'released', started: true });
  expect(await peer.outcome(peer.assign('late', null, of('1')))).toMatchObject({ output: 'late-word' });
  expect(events).toEqual(['1 damaged']);
  expect(served()).toEqual(['1']);
}, 30_000);

test('a failure because of a file that is not in the version remains a failure', async () => {
  const { peer, events, newProcess, dir } = await serving();
  const failed = await peer.outcome(peer.assign('own', null, of('1')));
  expect(failed).toMatchObject({
    kind: 'failed',
    error: { message: expect.stringContaining('ENOENT') as string },
  });
  // Files that tasks leave in their working folder do not count as damage.
  expect(await peer.outcome(peer.assign('leave', null, of('1')))).toMatchObject({ kind: 'completed' });
  newProcess();
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toMatchObject({ output: 'one' });
  expect(existsSync(join(dir, 'left.txt'))).toBe(true);
  expect(events).toEqual([]);
}, 30_000);

test('does not execute damaged files until it can fetch them again', async () => {
  const { peer, newProcess, taskFile, events, served } = await serving();
  const bundle = peer.bundles.bundles.get('1')!;
  await writeFile(taskFile, "throw new Error('not the code that was deployed');");
  peer.bundles.bundles.delete('1');
  newProcess();
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toMatchObject({ kind: 'released' });
  await peer.until(() => served().length === 0);
  expect(events).toEqual(['1 damaged', '1: the server responded with 404: There is no version 1.']);
  peer.bundles.bundles.set('1', bundle);
  expect(await peer.outcome(peer.assign('say', null, of('1')))).toMatchObject({ output: 'one' });
}, 30_000);

test('on a full disk, evicts idle versions for a requested one', async (context) => {
  const disk = await realpath(await mkdtemp(join(tmpdir(), 'millrace-disk-')));
  const unmount = mountSmallDisk(disk, 'size=4m');
  if (!unmount) return context.skip(needsMount);
  onTestFinished(async () => {
    unmount();
    await rm(disk, { recursive: true, force: true });
  });
  const large = (text: string): string =>
    `${say(text)}\nexport const noise = '${randomBytes(500_000).toString('hex')}';`;
  const { peer, served, events } = await start(
    { cache: { folder: disk } },
    { '1': large('one'), '2': large('two') },
  );
  peer.send({ type: 'load', versions: ['1'] });
  await peer.until(() => served().includes('1'));
  peer.send({ type: 'load', versions: ['2'] });
  // The process is kept for a while.
  await expect.poll(() => events.at(-1) ?? '', { timeout: 10_000 }).toMatch(/disk of the cache .* is full$/);
  await expect
    .poll(
      () => {
        if (!served().includes('2')) peer.send({ type: 'load', versions: ['2'] });
        return served();
      },
      { timeout: 20_000, interval: 1_000 },
    )
    .toEqual(['2']);
  expect(await peer.outcome(peer.assign('say', null, of('2')))).toMatchObject({ output: 'two' });
}, 60_000);

test('above its cache limit, evicts idle versions, and fetches them again for a run', async () => {
  const { peer, served, folder } = await start(
    { cache: { folder: await mkdtemp(join(tmpdir(), 'millrace-cache-')), size: 1 } },
    { '1': say('one'), '2': say('two'), '3': say('three') },
  );
  void folder;
  peer.send({ type: 'load', versions: ['1'] });
  await peer.until(() => served().includes('1'));
  for (const [version, output] of [
    ['2', 'two'],
    ['3', 'three'],
    ['2', 'two'],
    ['1', 'one'],
  ] as const)
    expect(await peer.outcome(peer.assign('say', null, of(version)))).toMatchObject({ output });
  expect(served()).toContain('1');
}, 60_000);

test('ends at a stop signal of the server, and returns attempts that do not finish in time', async () => {
  const { peer, runner, events } = await start({ stopMs: 100 }, { '1': say('one') });
  const fence = peer.assign('hold', null, of('1'));
  await expect.poll(() => runner.pids().length, { timeout: 10_000 }).toBe(1);
  const pids = runner.pids();
  peer.send({ type: 'stop' });
  peer.send({ type: 'stop' });
  expect(await runner.ended).toBeNull();
  expect(events).toEqual(['stop']);
  expect(peer.outcomes.get(fence)).toMatchObject({ kind: 'released' });
  expect(pids.map(isAlive)).toEqual([false]);
}, 30_000);
