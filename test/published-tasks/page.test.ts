import { expect, test } from 'vitest';
import { supportTable } from '../../packages/compat/src/support/table.ts';
import { exportsInFixture, exportsOfVersions, movingPage } from './page.ts';

const exportRows = supportTable.filter(({ kind, name }) => kind === 'export' && !name.includes('.'));

test('docs/moving.md contains the tables of exports and options', async () => {
  await expect(await movingPage()).toMatchFileSnapshot('../../docs/moving.md');
});

test('every export of every minor version has a row', async () => {
  const rows = new Set(exportRows.map(({ name }) => name));
  const missing = [...(await exportsOfVersions())].flatMap(([minor, names]) =>
    [...names].filter((name) => !rows.has(name)).map((name) => `${minor}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('every export that is listed as supported or different is used by a task in the tests', async () => {
  const used = await exportsInFixture();
  const unproven = exportRows.filter(
    ({ name, state }) => (state === 'works' || state === 'differs') && !used.has(name),
  );
  expect(unproven.map(({ name }) => name)).toEqual([]);
});
