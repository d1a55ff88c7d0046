import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { exportRows, type ExportRow } from '../../packages/compat/src/project/exports.ts';
import { versions } from './versions.ts';

const tasks = fileURLToPath(new URL('./fixture/trigger', import.meta.url));
const agents = fileURLToPath(new URL('./agents.fixture.ts', import.meta.url));
const page = fileURLToPath(new URL('../../docs/moving.md', import.meta.url));

export const begin = '<!-- The table is written by test/published-tasks/page.test.ts. -->';
export const end = '<!-- End of the table. -->';

/** Exports for the SDK's own tests and warnings. */
const isInternal = (name: string): boolean => /^__|^mark/.test(name);

/** The values that each minor version exports. */
export async function exportsOfVersions(): Promise<Map<string, ReadonlySet<string>>> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const [minor, name] of versions)
    found.set(minor, new Set(Object.keys((await import(name)) as object).filter((key) => !isInternal(key))));
  return found;
}

/** The imports of the fixture tasks, which our tests run with each minor version. */
export async function exportsInFixture(): Promise<Set<string>> {
  const names = new Set<string>();
  const files = (await readdir(tasks)).map((file) => `${tasks}/${file}`);
  for (const file of [...files, agents]) {
    const text = await readFile(file, 'utf8');
    for (const [, clause = ''] of text.matchAll(/import\s*\{([^}]*)\}\s*from '@trigger\.dev\/sdk'/g))
      for (const name of clause.split(',')) names.add(name.trim());
  }
  return names;
}

const cell = ({ state }: ExportRow): string => ({ works: 'works', differs: 'differs', not: 'not' })[state];

async function table(): Promise<string[]> {
  const exported = await exportsOfVersions();
  const rows = exportRows.map((row) => {
    const root = row.name.split('.')[0] ?? '';
    const cells = versions.map(([minor]) => (exported.get(minor)?.has(root) ? cell(row) : '–'));
    return `| \`${row.name}\` | ${cells.join(' | ')} | ${row.note ?? ''} |`;
  });
  return [
    `| Export | ${versions.map(([minor]) => minor).join(' | ')} | Difference, or alternative |`,
    `|---|${versions.map(() => '---').join('|')}|---|`,
    ...rows,
  ];
}

/** docs/moving.md with the table generated from the checks. */
export async function movingPage(): Promise<string> {
  const text = await readFile(page, 'utf8');
  const [before = '', rest = ''] = text.split(begin);
  const after = rest.split(end)[1] ?? '';
  return `${before}${begin}\n\n${(await table()).join('\n')}\n\n${end}${after}`;
}
