import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pageOf, type Row } from './page.ts';

const read = async <T>(path: string): Promise<T> =>
  JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8')) as T;
const rows = await read<Row[]>('results.json');

test('docs/packages.md has the recorded results', async () => {
  await expect(pageOf(rows)).toMatchFileSnapshot('../../docs/packages.md');
});

test('every result belongs to a tested package, in the version of the lockfile', async () => {
  const uses = await readdir(fileURLToPath(new URL('project/uses', import.meta.url)), { recursive: true });
  const names = uses.filter((use) => use.endsWith('.mjs')).map((use) => use.slice(0, -'.mjs'.length));
  expect(names.map((name) => name.replaceAll('\\', '/'))).toEqual(
    expect.arrayContaining(rows.map(({ kind, name }) => `${kind}/${name}`)),
  );
  const { packages } = await read<{ packages: Record<string, { version?: string }> }>(
    'project/package-lock.json',
  );
  expect(rows.map(({ name, version }) => `${name} ${version}`)).toEqual(
    rows.map(({ name }) => `${name} ${packages[`node_modules/${name}`]?.version}`),
  );
});

test('a package that fails or returns another value is listed as failing', () => {
  const row = { kind: 'ai', version: '1.0.0', date: '2026-01-02', node: '24.1.0' };
  const page = pageOf([
    { ...row, name: 'good', dev: { output: 1 }, deployed: { output: 1 } },
    { ...row, name: 'whole', why: 'it reads files', dev: { output: [2] }, deployed: { output: [2] } },
    { ...row, name: 'broken', dev: { output: 1 }, deployed: { error: 'FAILED: Error: no | file\nat x' } },
    { ...row, name: 'different', dev: { output: 1 }, deployed: { output: 2 } },
    { ...row, name: 'better-sqlite3', dev: { error: 'no' }, deployed: { error: 'no' } },
  ]);
  expect(page).toContain('2 of 5 pass without configuration. 4 are bundled. 1 are installed');
  expect(page).toContain('Node.js 24.1.0, 2026-01-02.');
  expect(page.slice(page.indexOf('## '))).toBe(`## Failing

| Package | Version | \`dev\` | Deployed | Needs |
|---|---|---|---|---|
| \`broken\` | 1.0.0 | works | fails: FAILED: Error: no \\| file |  |
| \`different\` | 1.0.0 | works | another value |  |
| \`better-sqlite3\` | 1.0.0 | fails: no | fails: no | an install script that downloads or compiles its native code |

## AI

Bundled: \`good\` 1.0.0.

| In a layer | Version | Not bundled, because |
|---|---|---|
| \`whole\` | 1.0.0 | it reads files |
`);
});
