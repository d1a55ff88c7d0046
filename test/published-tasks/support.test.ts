import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { entryOf, type Kind, supportTable } from '../../packages/compat/src/support/table.ts';
import { usesOf } from '../../packages/compat/src/uses/uses.ts';
import { exportsOfVersions } from './page.ts';
import { namesInTypes } from './types.ts';
import { versions } from './versions.ts';

/** Methods of exports that only the published SDK itself calls. */
const internal = /^export (?:logger\.(?:disable|setGlobalTaskLogger)|locals\.\w+Manager)$/;

const tried = ['4.0', '4.8'] as const;

/** The values that a minor version exports, as `<kind> <name>`. Its types do not mark names that are only types. */
async function valuesOf(minor: (typeof tried)[number]): Promise<Set<string>> {
  const exported = [...((await exportsOfVersions()).get(minor) ?? [])].map((name) => `export ${name}`);
  const agents = minor === '4.0' ? {} : await import('@trigger.dev/sdk/ai');
  return new Set([...exported, ...Object.keys(agents).map((name) => `agents ${name}`)]);
}

/** The names in the types of the oldest and the newest version, which are compiled once. */
let read: Promise<ReadonlyMap<string, ReadonlySet<string>>> | undefined;
const namesOfVersions = () =>
  (read ??= (async () => {
    const found = new Map<string, ReadonlySet<string>>();
    for (const minor of tried)
      found.set(minor, await namesInTypes(minor, await valuesOf(minor), onTestFinished));
    return found;
  })());

test('every option, and every member of an export, in the types of the oldest and the newest version has a row', async () => {
  const rows = new Set(supportTable.map(({ kind, name }) => `${kind} ${name}`));
  const missing = [...(await namesOfVersions())].flatMap(([minor, names]) =>
    [...names].filter((name) => !rows.has(name) && !internal.test(name)).map((name) => `${minor}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('every entry point has a row', () => {
  const resolve = createRequire(new URL('../modules/package.json', import.meta.url)).resolve;
  const missing = versions.flatMap(([, name]) => {
    const { exports } = createRequire(import.meta.url)(resolve(`${name}/package.json`)) as {
      exports: object;
    };
    return Object.keys(exports)
      .filter((entry) => entry !== './package.json')
      .map((entry) => `@trigger.dev/sdk${entry.slice(1)}`)
      .filter((specifier) => !entryOf('module', specifier));
  });
  expect(missing).toEqual([]);
});

test('the table has no rows for names that no version has', async () => {
  const names = new Set([...(await namesOfVersions()).values()].flatMap((of) => [...of]));
  const exported = new Set([...(await exportsOfVersions()).values()].flatMap((of) => [...of]));
  const stale = supportTable.filter(
    ({ kind, name }) =>
      kind !== 'module' && !names.has(`${kind} ${name}`) && !(kind === 'export' && exported.has(name)),
  );
  expect(stale.map(({ kind, name }) => `${kind} ${name}`)).toEqual([]);
});

const folder = fileURLToPath(new URL('.', import.meta.url));

/** The files with tasks that the tests of this folder run, and the files that declare others in their own process. */
async function sources(): Promise<{ readonly path: string; readonly text: string }[]> {
  const fixture = (await readdir(`${folder}/fixture/trigger`)).map((file) => `fixture/trigger/${file}`);
  const own = [
    'agents.fixture.ts',
    'options.fixture.ts',
    'manifest.test.ts',
    'webhook-of.test.ts',
    'queue-of.test.ts',
  ];
  const paths = [...fixture, 'fixture/trigger.config.ts', ...own];
  return Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(`${folder}/${path}`, 'utf8') })),
  );
}

test('every option that is listed as supported or different is set in a task of the tests', async () => {
  const files = await sources();
  const set = new Set(files.flatMap(({ path, text }) => [...usesOf(path, text, '4.8.3').options]));
  const text = files.map((file) => file.text).join('\n');
  const isSet = (kind: Kind, name: string): boolean =>
    kind === 'hook' || kind === 'catchError'
      ? new RegExp(String.raw`\b${name}\b`).test(text)
      : set.has(`${kind} ${name}`);
  const unproven = supportTable.filter(
    ({ kind, name, state }) =>
      !['export', 'agents', 'module', 'config'].includes(kind) &&
      (state === 'works' || state === 'differs') &&
      !isSet(kind, name),
  );
  expect(unproven.map(({ kind, name }) => `${kind} ${name}`)).toEqual([]);
});

test('every setting that is listed as supported or different is set in a project of the tests', async () => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.test.ts'));
  const paths = [...files.map((file) => `${folder}/${file}`), `${folder}/fixture/trigger.config.ts`];
  const text = (await Promise.all(paths.map((path) => readFile(path, 'utf8')))).join('\n');
  const unproven = supportTable.filter(
    ({ kind, name, state }) =>
      kind === 'config' &&
      (state === 'works' || state === 'differs') &&
      !new RegExp(String.raw`\b${name.split('.').at(-1)}\??['"]?\s*[:(]`).test(text),
  );
  expect(unproven.map(({ name }) => name)).toEqual([]);
});
