import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { hasMembers, supportTable, type Entry, type Kind } from '../../packages/compat/src/support/table.ts';
import { versions } from './versions.ts';

const tasks = fileURLToPath(new URL('./fixture/trigger', import.meta.url));
const others = ['agents', 'options'].map((name) =>
  fileURLToPath(new URL(`./${name}.fixture.ts`, import.meta.url)),
);
const page = fileURLToPath(new URL('../../docs/moving.md', import.meta.url));

const marks = (what: string) => ({
  begin: `<!-- The table of ${what} is written by test/published-tasks/page.test.ts. -->`,
  end: `<!-- End of the table of ${what}. -->`,
});

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
  for (const file of [...files, ...others]) {
    const text = await readFile(file, 'utf8');
    for (const [, clause = ''] of text.matchAll(/import\s*\{([^}]*)\}\s*from '@trigger.dev\/sdk'/g))
      for (const name of clause.split(',')) names.add(name.trim());
  }
  return names;
}

const states: Readonly<Record<Entry['state'], string>> = {
  works: 'works',
  differs: 'differs',
  none: 'no effect',
  not: 'not',
};

async function exportTable(): Promise<string[]> {
  const exported = await exportsOfVersions();
  const cellsOf = ({ name, state }: Entry): string => {
    const root = name.split('.')[0] ?? '';
    return versions.map(([minor]) => (exported.get(minor)?.has(root) ? states[state] : '–')).join(' | ');
  };
  return [
    `| Export | ${versions.map(([minor]) => minor).join(' | ')} | Difference, or alternative |`,
    `|---|${versions.map(() => '---').join('|')}|---|`,
    ...grouped('export', cellsOf),
  ];
}

const kindNames = {
  task: '`task`, `schemaTask`, `toolTask`, `schedules.task`',
  queue: '`queue`',
  limit: '`concurrencyLimit`',
  trigger: '`trigger` and similar functions',
  batch: '`batchTrigger` and similar functions',
  webhook: '`webhook`',
  endpoint: '`webhooks.endpoint.define`',
  agents: '`@trigger.dev/sdk/ai`',
  module: 'packages and entry points',
} satisfies Partial<Record<Kind, string>>;

/** Options and other names that do not work unchanged. Settings have a table of their own on the page. */
const optionTable = (): string[] => [
  '| Where | Option or name | Support | Difference, or alternative |',
  '|---|---|---|---|',
  ...(Object.keys(kindNames) as (keyof typeof kindNames)[]).flatMap((kind) =>
    grouped(kind, ({ state }) => states[state])
      .filter((row) => !row.includes('| works |'))
      .map((row) => `| ${kindNames[kind]} ${row}`),
  ),
];

/** The rows of a kind. Members are only listed if they do not work, and names with the same note share a row. */
function grouped(kind: Kind, cellsOf: (entry: Entry) => string): string[] {
  const rows = new Map<string, { readonly names: string[]; readonly cells: string; readonly note: string }>();
  for (const entry of supportTable) {
    const { name, state, note = '' } = entry;
    if (entry.kind !== kind || (isMember(kind, name) && state === 'works')) continue;
    if (state !== 'works' && isInRefused(kind, name)) continue;
    const cells = cellsOf(entry);
    const key = state === 'works' ? name : `${cells} ${note}`;
    const row = rows.get(key) ?? { names: [], cells, note };
    row.names.push(`\`${name}\``);
    rows.set(key, row);
  }
  return [...rows.values()].map(({ names, cells, note }) => `| ${names.join(', ')} | ${cells} | ${note} |`);
}

const isMember = (kind: Kind, name: string): boolean => kind !== 'module' && name.includes('.');

/** Whether an outer name is not supported either. */
const isInRefused = (kind: Kind, name: string): boolean =>
  supportTable.some(
    (outer) =>
      outer.kind === kind &&
      outer.state === 'not' &&
      hasMembers(kind, outer.name) &&
      name.startsWith(`${outer.name}.`),
  );

function replaced(text: string, what: string, table: readonly string[]): string {
  const { begin, end } = marks(what);
  const [before = '', rest = ''] = text.split(begin);
  const after = rest.split(end)[1] ?? '';
  return `${before}${begin}\n\n${table.join('\n')}\n\n${end}${after}`;
}

/** docs/moving.md with the tables generated from the checks. */
export async function movingPage(): Promise<string> {
  const text = await readFile(page, 'utf8');
  return replaced(replaced(text, 'exports', await exportTable()), 'options', optionTable());
}
