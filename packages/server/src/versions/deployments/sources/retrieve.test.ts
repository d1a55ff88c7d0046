import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bundleOf } from '../testing/bundle.ts';
import { testDeployments } from '../testing/deployments.ts';
import { sourceMaps, type SourceMapDependencies } from './maps.ts';
import { retrieveSource } from './retrieve.ts';

const mapOf = (sources: Readonly<Record<string, string | null>>): string =>
  JSON.stringify({
    version: 3,
    mappings: '',
    sources: Object.keys(sources),
    sourcesContent: Object.values(sources),
  });

const numbered = (name: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${name} ${index + 1}`).join('\n');

async function setUp(more: Partial<SourceMapDependencies> = {}) {
  const t = await testDeployments();
  const dependencies = { sql: t.sql, ...more };
  const maps = sourceMaps(dependencies);
  return {
    ...t,
    source: (version: string, file: string, line: number) =>
      retrieveSource({ sql: t.sql, maps }, t.environment, version, { file, line }),
  };
}

test('lines around a frame come from the source map, for any form of the file name', async () => {
  const t = await setUp();
  const bundle = bundleOf({
    'tasks.js.map': mapOf({ 'tasks.ts': numbered('task', 8) }),
    'shared/chunk-A.mjs.map': mapOf({
      '../src/orders.ts': numbered('order', 30).replaceAll('\n', '\r\n'),
      '../node_modules/pg/lib/client.js': numbered('pg', 3),
      '../../../packages/lib/src/money.ts': numbered('money', 3),
      '../../../lib/src/money.ts': numbered('other', 3),
      '../src/lost.ts': null,
      '../src/wide.ts': 'x'.repeat(600),
    }),
    'notes.mjs.map': 'not a map',
  });
  const { version } = await t.deploy(bundle);
  const [row] = await t.sql<
    { hash: string }[]
  >`select content_hash as hash from versions where version = ${version}`;
  const folder = `/home/ada/.cache/millrace/${row?.hash}`;

  expect(await t.source(version, `${folder}/src/orders.ts`, 14)).toEqual({
    version,
    file: 'src/orders.ts',
    lines: Array.from({ length: 11 }, (_, index) => ({ number: index + 9, text: `order ${index + 9}` })),
    note: null,
  });
  const first = async (file: string, line = 1) => (await t.source(version, file, line)).lines[0]?.text;
  expect(await first('tasks.ts')).toBe('task 1');
  expect(await first(`file://${folder.replace('ada', 'a%20b')}/tasks.ts`)).toBe('task 1');
  expect(await first(`C:\\cache\\${row?.hash}\\src\\orders.ts`, 30)).toBe('order 25');
  expect(await first(`${folder}/node_modules/pg/lib/client.js`)).toBe('pg 1');
  // Packages of the workspace are outside the folder, so the longest matching suffix wins.
  expect(await first('/home/ada/.cache/packages/lib/src/money.ts')).toBe('money 1');
  expect(await first(`${folder}/src/wide.ts`)).toBe(`${'x'.repeat(500)}…`);

  const note = async (file: string, line = 1) => {
    const { lines, note: noteText, file: named } = await t.source(version, file, line);
    expect({ lines, named }).toEqual({ lines: [], named: null });
    return noteText;
  };
  expect(await note('tasks.ts', 9)).toBe(`In version ${version} this file has 8 lines.`);
  expect(await note('src/lost.ts')).toContain('but not its text');
  const missing = `No source map of version ${version} contains this file.`;
  for (const file of [
    '/etc/passwd',
    'notes.mjs.map',
    'sdk.js',
    'orders.ts',
    `${folder}/src`,
    '/x/src/orders.ts',
  ])
    expect(await note(file)).toBe(missing);
  await expect(t.source('20200101.1', 'tasks.ts', 1)).rejects.toMatchObject({ status: 404 });
});

test('a version without stored files returns the reason for missing lines', async () => {
  const t = await setUp();
  const noteOf = async (version: string) => (await t.source(version, 'tasks.ts', 1)).note;
  const without = await t.deploy(bundleOf({}));
  expect(await noteOf(without.version)).toBe(`Version ${without.version} has no source maps.`);
  const { version } = await t.deploy(bundleOf({ 'tasks.js.map': mapOf({ 'tasks.ts': 'a' }) }));
  expect(await noteOf(version)).toBeNull();
  await t.promoteTo(without.version, { allowRollbacks: true });
  await t.archive(version);
  expect(await noteOf(version)).toBe(`Version ${version} is archived, and its files were deleted.`);
  const uploading = await t.create(bundleOf({ 'tasks.js.map': mapOf({ 'tasks.ts': 'b' }) }).body);
  expect(await noteOf(uploading.version)).toBe(`Version ${uploading.version} is still being uploaded.`);
});

test('a source map that is too large to parse is skipped, and the reply notes it', async () => {
  const t = await setUp();
  const big = mapOf({ 'big.ts': randomBytes(9 * 1_048_576).toString('hex'), 'tasks.ts': 'a' });
  const { version } = await t.deploy(bundleOf({ 'tasks.js.map': big }));
  expect((await t.source(version, 'tasks.ts', 1)).note).toBe(
    `No source map of version ${version} that is small enough to search contains this file.`,
  );
});

test('lines of a version that a runner registered from its folder come from the build on this machine', async () => {
  const projectDir = await mkdtemp(join(tmpdir(), 'millrace-sources-'));
  onTestFinished(() => rm(projectDir, { recursive: true, force: true }));
  const dir = join(projectDir, '.millrace', 'build', 'abc');
  await mkdir(join(dir, 'tasks'), { recursive: true });
  await writeFile(join(dir, 'tasks', 'a.mjs.map'), mapOf({ '../../../../tasks/a.ts': numbered('a', 3) }));
  let requested = '';
  const t = await setUp({
    localBuild: async ({ projectRef, publicId }, version) => {
      requested = `${projectRef}/${publicId}/${version}`;
      return { dir, projectDir };
    },
  });
  const { version } = await t.register('send');
  expect(await t.source(version, join(projectDir, 'tasks', 'a.ts'), 2)).toMatchObject({
    file: 'tasks/a.ts',
    lines: [{ text: 'a 1' }, { text: 'a 2' }, { text: 'a 3' }],
  });
  expect(requested).toBe(`${t.environment.projectRef}/${t.environment.publicId}/${version}`);
  expect((await t.source(version, join(projectDir, 'package.json'), 1)).lines).toEqual([]);
  expect((await t.source(version, '/etc/passwd', 1)).lines).toEqual([]);
});
