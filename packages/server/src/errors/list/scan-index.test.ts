import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listErrors } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { listErrorGroups } from './list.ts';
import { few } from './prefilter.ts';
import { groupOf, newEnvironment, recordFailures, type Failure } from '../testing/failures.ts';
import { numRuns } from '../../../../../test/support/long.ts';

let database: TestDatabase;
let sql: Sql;
let env: number;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.connection, { name: 'test' });
  env = await newEnvironment(sql);
  // in time order
  const moments = new Map<number, Failure[]>();
  for (const { failure, at } of groups) moments.set(at, [...(moments.get(at) ?? []), failure]);
  for (const [at, failures] of [...moments].toSorted(([a], [b]) => a - b))
    await recordFailures(sql, env, new Date(at), failures);
}, 60_000);
afterAll(async () => {
  await sql.end();
  await database.drop();
});

// More groups of one task than are looked up individually, before those of another task that failed later; many of them in one time slot.
const start = Date.parse('2026-11-21T10:00:00.000Z');
const older = few + 200;
const groups = Array.from({ length: older + 350 }, (_, n) => {
  const failure = {
    task: n < older ? 'older' : 'newer',
    message: `${n % 3 === 0 ? 'common' : 'other'} ${n}`,
  };
  return { failure, at: start + (n < older ? (n * 7919) % 40 : 50 + (n % 20)) * 1_000 };
});
const now = new Date(start + 120_000);

interface ListedGroup {
  readonly id: string;
  readonly at: number;
  readonly message: string;
}

/** The groups of the older task, in list order. */
const inOrder = (): ListedGroup[] =>
  groups
    .slice(0, older)
    .map(({ failure, at }) => ({ id: groupOf(env, failure), at, message: failure.message }))
    .toSorted((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1));

const page = async (parameters: Record<string, string>): Promise<string[]> =>
  (await listErrorGroups(sql, { env, query: listErrors.query.parse(parameters), now })).data.map(
    ({ id }) => id,
  );

test('pages traverse more groups than are looked up individually, in both directions, with shared slots', async () => {
  const all = inOrder();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        sort: fc.constantFrom('lastSeen', 'firstSeen'),
        size: fc.integer({ min: 1, max: 100 }),
        index: fc.option(fc.nat(older - 1), { nil: undefined }),
        backward: fc.boolean(),
        search: fc.constantFrom('', 'common', 'mm', 'other 1', '7'),
        range: fc.constantFrom<Record<string, string>>(
          {},
          { 'filter[from]': String(start) },
          { 'filter[to]': String(start + 60_000) },
        ),
      }),
      async ({ sort, size, index, backward, search, range }) => {
        const id = index === undefined ? undefined : all[index]?.id;
        const parameters = { 'filter[taskIdentifier]': 'older', 'page[size]': String(size), sort, ...range };
        const found = await page({
          ...parameters,
          ...(search !== '' && { 'filter[search]': search }),
          ...(id && { [backward ? 'page[before]' : 'page[after]']: id }),
        });
        const beside = backward && id ? all.slice(0, index) : all.slice(index === undefined ? 0 : index + 1);
        const passing = beside.filter(({ message }) => message.includes(search));
        const next = backward && id ? passing.slice(-size) : passing.slice(0, size);
        expect(found).toEqual(next.map((group) => group.id));
      },
    ),
    { numRuns: numRuns(40) },
  );
}, 120_000);
