import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listErrors, type ErrorGroup } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../test/support/database.ts';
import { connect, type Sql } from '../db/connect.ts';
import { listErrorGroups } from './list.ts';
import { pruneOccurrences } from './prune.ts';
import { deploy, newEnvironment, recordFailures } from './testing/failures.ts';
import { trendOf } from './trend.ts';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.connection, { name: 'test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const hourMs = 3_600_000;
const start = Date.parse('2026-11-21T00:00:00.000Z');
const retentionMs = 6 * hourMs;
const span = 30 * hourMs;
const tasks = ['one', 'two'];
const deployed = ['v1', 'v2', 'v3'];

interface Occurrence {
  readonly at: number;
  readonly task: string;
  readonly message: string;
  readonly version: number;
}

const moment = fc.oneof(
  fc.nat(span),
  // on the edge of an hour, and beside it
  fc
    .tuple(fc.nat(30), fc.constantFrom(-1, 0, 1))
    .map(([hour, beside]) => Math.max(0, hour * hourMs + beside)),
);
const flush = fc.record({
  kind: fc.constant('flush' as const),
  at: moment,
  failures: fc.array(
    fc.record({
      task: fc.constantFrom(...tasks),
      message: fc.constantFrom('a', 'b', 'c'),
      version: fc.constantFrom(-1, 0, 1, 2),
      // enough at once that tallies are taken
      times: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 130 })),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});
const prune = fc.record({ kind: fc.constant('prune' as const), at: moment });
const question = fc.record({
  kind: fc.constant('question' as const),
  from: fc.option(moment, { nil: undefined }),
  to: fc.option(moment, { nil: undefined }),
  versions: fc.option(fc.subarray(deployed, { minLength: 1 }), { nil: undefined }),
  tasks: fc.option(fc.subarray(tasks, { minLength: 1 }), { nil: undefined }),
  size: fc.integer({ min: 1, max: 4 }),
});
const acts = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: flush },
    { weight: 1, arbitrary: prune },
    { weight: 3, arbitrary: question },
  ),
  { minLength: 5, maxLength: 25 },
);

test('for every range and filter the counts add up to the failed runs recorded in it, through pruning', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (script) => {
      const env = await newEnvironment(sql);
      const ids = await deploy(sql, env, ...deployed);
      const recorded: Occurrence[] = [];
      const answers: { asked: Question; counts: Counts; expected: Counts }[] = [];
      let now = 0;
      for (const act of script) {
        if (act.kind === 'flush') {
          // In any order, also into hours that are pruned already.
          const { at } = act;
          now = Math.max(now, at);
          const failures = act.failures.flatMap(({ times, ...failure }) =>
            Array.from({ length: times }, () => failure),
          );
          recorded.push(...failures.map((failure) => ({ ...failure, at })));
          await recordFailures(
            sql,
            env,
            new Date(start + at),
            failures.map((failure) => ({ ...failure, version: ids[failure.version] ?? null })),
          );
        } else if (act.kind === 'prune') {
          now = Math.max(now, act.at);
          let more = true;
          while (more) more = await pruneOccurrences(sql, new Date(start + now), retentionMs);
        } else {
          answers.push({
            asked: act,
            counts: await askedCounts(env, act, now),
            expected: expectedCounts(recorded, act, now),
          });
        }
      }
      for (const { counts, expected, asked } of answers)
        expect({ asked, counts }).toEqual({ asked, counts: expected });
      await checkTrends(env, recorded, now);
    }),
    { numRuns: 60 },
  );
}, 120_000);

type Counts = Record<string, number>;
type Question = typeof question extends fc.Arbitrary<infer Q> ? Q : never;

/** Ranges that reach back to what is kept by the hour count the hours that they touch whole. */
function expectedCounts(
  recorded: readonly Occurrence[],
  asked: Question,
  now: number,
): Record<string, number> {
  const since = Math.floor((now - retentionMs) / hourMs) * hourMs;
  const floor = (at: number) => Math.floor(at / hourMs) * hourMs;
  const { from: askedFrom = -1, to: askedTo = Infinity } = asked;
  const from = askedFrom < since ? floor(askedFrom) : askedFrom;
  const to = askedTo < since ? floor(askedTo) + hourMs - 1 : askedTo;
  const counts: Counts = {};
  for (const { at, task, message, version } of recorded) {
    if (at < from || at > to) continue;
    if (asked.tasks && !asked.tasks.includes(task)) continue;
    if (asked.versions && !asked.versions.includes(deployed[version] ?? '')) continue;
    counts[`${task} ${message}`] = (counts[`${task} ${message}`] ?? 0) + 1;
  }
  return counts;
}

async function askedCounts(env: number, asked: Question, now: number): Promise<Counts> {
  const parameters: Record<string, string> = { 'page[size]': String(asked.size) };
  if (asked.from !== undefined) parameters['filter[from]'] = String(start + asked.from);
  if (asked.to !== undefined) parameters['filter[to]'] = String(start + asked.to);
  if (asked.versions) parameters['filter[version]'] = asked.versions.join();
  if (asked.tasks) parameters['filter[taskIdentifier]'] = asked.tasks.join();
  const items: ErrorGroup[] = [];
  let after: string | undefined;
  do {
    const query = listErrors.query.parse(
      after === undefined ? parameters : { ...parameters, 'page[after]': after },
    );
    const page = await listErrorGroups(sql, { env, query, now: new Date(start + now), retentionMs });
    items.push(...page.data);
    after = page.pagination.next;
  } while (after !== undefined);
  const lastSeen = items.map((item) => item.lastSeen);
  expect(lastSeen).toEqual(lastSeen.toSorted().toReversed());
  return Object.fromEntries(items.map((item) => [`${item.taskIdentifier} ${item.errorMessage}`, item.count]));
}

/** The points of a trend that covers everything add up to the total. */
async function checkTrends(env: number, recorded: readonly Occurrence[], now: number): Promise<void> {
  const query = listErrors.query.parse({ 'page[size]': '100' });
  const { data } = await listErrorGroups(sql, { env, query, now: new Date(start + now) });
  expect(data.reduce((sum, item) => sum + item.count, 0)).toBe(recorded.length);
  for (const item of data) {
    const trend = await trendOf(sql, env, item.id, 60 * hourMs, new Date(start + now));
    expect(trend.points.reduce((sum, point) => sum + point.count, 0)).toBe(item.count);
  }
}
