import { expect, onTestFinished, test } from 'vitest';
import { catalogueOf, rowsOf } from '../../../../test/support/catalogue.ts';
import { databaseBefore, testDatabase, type TestDatabase } from '../../../../test/support/database.ts';
import { connect } from './connect.ts';

async function open(database: TestDatabase) {
  const sql = connect(database.connection, { name: 'test', max: 4 });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await database.drop();
  });
  return sql;
}

/** Installed before the functions they call, their bodies are text now. */
const becameText = new Set([
  'error_facts(error_groups)',
  'reopen_error(integer,text,timestamp with time zone,text)',
]);

const withoutBodies = (functions: Readonly<Record<string, unknown>> = {}) =>
  Object.fromEntries(
    Object.entries(functions).map(([name, is]) => [
      name,
      becameText.has(name) ? String(is).replace(/\n(?:BEGIN ATOMIC|RETURN|AS \$)[^]*/, '') : is,
    ]),
  );

test('the baseline and the functions make the catalogue that the migrations made', async () => {
  const old = await open(await databaseBefore('9999'));
  const fresh = await open(await testDatabase());
  const [before, now] = [await catalogueOf(old), await catalogueOf(fresh)];
  expect(Object.keys(before['columns'] ?? {}).length).toBeGreaterThan(500);
  expect(Object.keys(before['functions'] ?? {}).length).toBeGreaterThan(55);
  expect({ ...now, functions: withoutBodies(now['functions']) }).toEqual({
    ...before,
    functions: withoutBodies(before['functions']),
  });
  expect(await rowsOf(fresh, now)).toEqual(await rowsOf(old, before));
});
