import { afterAll, beforeAll, expect, test } from 'vitest';
import { listErrors } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { listErrorGroups } from '../list/list.ts';
import { thinTallies } from '../counts/compact.ts';
import { tally } from '../record/tally.ts';
import { groupOf, newEnvironment, recordFailures } from '../testing/failures.ts';
import { columns, countsOf, type Columns } from './columns.ts';
import { pack } from './counts.ts';
import { packNewMoves } from './moves.ts';
import { packCounts } from './pack.ts';
import { rollUpPacks } from './roll-up.ts';

const hourMs = 3_600_000;
const start = Date.parse('2026-11-01T00:00:00.000Z');
const time = (hours: number) => new Date(start + hours * hourMs);
const ages = { hours: 6 * hourMs, days: 30 * hourMs };
const now = time(60);
/** Days, hours, what is not counted by the hour yet but packed by it, and what is not packed yet. */
const ends = [0, 24, 25, 29, 48, 53, 54.3, 56, 57.1, 60];

let database: TestDatabase;
let sql: Sql;
let env: number;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.connection, { name: 'test' });
  env = await newEnvironment(sql);
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const failures = Array.from({ length: 240 }, (_, index) => ({
  at: time(index / 4 + 0.1),
  message: ['a', 'b', 'c', "a'"][(index % 7) % 4] as string,
}));

/** Packs by the hour, as if all were older than quarters are kept: one of each hour, and one of all that was before. */
async function packAsReleased(until: number): Promise<void> {
  const write = async (whole: boolean, from: number, to: number): Promise<void> => {
    const [row] = await sql<Columns[]>`
      select ${columns(sql)} from (
        select fingerprint_id as id, sum(n) as n from error_tallies
         where env = ${env} and at >= ${time(from)} and at < ${time(to)} group by 1) t`;
    const counts = countsOf(row as Columns);
    await sql`
      insert into error_packs (env, version, whole, since, at, size, counts)
      values (${env}, ${whole ? -1 : 0}, ${whole}, ${whole ? '-infinity' : time(from)}, ${time(to)}, ${counts.counts.length}, ${pack(counts)})`;
  };
  for (let hour = 0; hour < until; hour++) await write(false, hour, hour + 1);
  await write(true, 0, 31);
  await sql`insert into error_packing (env, until, hours_until) values (${env}, ${time(until)}, ${time(until)})`;
  await sql`insert into error_thinning (env, hours_until) values (${env}, ${time(2)})`;
}

/** Every range between two ends counts what was recorded in it, by the group that each message is in. */
async function check(groups: Readonly<Record<string, string>>): Promise<void> {
  for (const from of ends) {
    for (const to of ends.filter((end) => end > from)) {
      const query = listErrors.query.parse({
        sort: 'count',
        'filter[from]': String(time(from).getTime()),
        'filter[to]': String(time(to).getTime() - 1),
      });
      const { data } = await listErrorGroups(sql, { env, query, now, ages });
      const expected: Record<string, number> = {};
      for (const { at, message } of failures) {
        const group = groups[message] ?? message;
        if (at >= time(from) && at < time(to)) expected[group] = (expected[group] ?? 0) + 1;
      }
      const counted = Object.fromEntries(data.map((group) => [group.errorMessage, group.count]));
      expect(counted, `${from} to ${to}`).toEqual(expected);
    }
  }
}

const until = async (round: () => Promise<boolean>): Promise<void> => {
  while (await round());
};

test('packs of hours are rolled up, and groups merged in between are counted right', async () => {
  for (const { at, message } of failures) {
    await recordFailures(sql, env, at, [{ message, older: message === "a'" ? ['a'] : [] }]);
  }
  await tally(sql, env);
  await packAsReleased(57);
  await check({ "a'": 'a' });

  await packNewMoves(sql, 0);
  await until(() => packCounts(sql, now, 0));
  await until(() => rollUpPacks(sql, now, ages));
  await until(() => thinTallies(sql, now, ages));
  const wrong = await sql`
    select at, since from error_packs where not whole and at - since <> case
      when at <= ${time(24)} then interval '1 day' when at <= ${time(57)} then interval '1 hour' else interval '15 minutes' end`;
  expect([...wrong]).toEqual([]);
  await check({ "a'": 'a' });

  // A merge that packs no moves.
  const [into, other] = [groupOf(env, { message: 'a' }), groupOf(env, { message: 'b' })];
  await sql`update error_fingerprints set group_id = ${into} where env = ${env} and group_id = ${other}`;
  await sql`update error_groups set merged_into = ${into}, total = 0 where env = ${env} and id = ${other}`;
  await check({ "a'": 'a', b: 'a' });
}, 60_000);
