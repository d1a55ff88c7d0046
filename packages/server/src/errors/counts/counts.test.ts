import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listErrors, type ErrorGroup } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { listErrorGroups } from '../list/list.ts';
import { mergeErrorGroups } from '../merge/merge.ts';
import { splitErrorGroup } from '../merge/split.ts';
import { compactTallies, deleteOldHours } from './compact.ts';
import { deploy, groupOf, newEnvironment, recordFailures, secretKey } from '../testing/failures.ts';
import { retrieveWithTrend } from '../list/trend.ts';
import { numRuns } from '../../../../../test/support/long.ts';

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
const dayMs = 24 * hourMs;
const ages = { hours: 6 * hourMs, days: 30 * hourMs };
const span = 90 * hourMs;
const tasks = ['one', 'two'];
const deployed = ['v1', 'v2', 'v3'];

interface Occurrence {
  readonly at: number;
  readonly task: string;
  readonly fingerprint: string;
  readonly version: number;
}

const messages = ['a', 'b', 'c'];

const moment = fc.oneof(
  fc.nat(span),
  // often in the same few hours, and at the same times within them
  fc
    .tuple(fc.constantFrom(3, 4, 12), fc.constantFrom(0, 1, 1_000, 1_800_000, hourMs - 1))
    .map(([hour, within]) => hour * hourMs + within),
  // on or next to the boundary of a quarter of an hour, a day or a week
  fc
    .tuple(fc.oneof(fc.nat(360), fc.constantFrom(96, 192, 288)), fc.constantFrom(-1, 0, 1))
    .map(([quarter, beside]) => Math.max(0, quarter * (hourMs / 4) + beside)),
);
const flush = fc.record({
  kind: fc.constant('flush' as const),
  at: moment,
  failures: fc.array(
    fc.record({
      task: fc.constantFrom(...tasks),
      message: fc.constantFrom(...messages),
      version: fc.oneof(fc.constant(0), fc.constantFrom(-1, 0, 1, 2)),
      // enough of them together to start tallies
      times: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 130 })),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});
const merge = fc.record({
  kind: fc.constant('merge' as const),
  task: fc.constantFrom(...tasks),
  into: fc.constantFrom(...messages),
  others: fc.subarray(messages, { minLength: 1 }),
});
const split = fc.record({
  kind: fc.constant('split' as const),
  task: fc.constantFrom(...tasks),
  message: fc.constantFrom(...messages),
});
// After this, every error has a different fingerprint.
const upgrade = fc.constant({ kind: 'upgrade' as const });
const prune = fc.record({ kind: fc.constant('prune' as const), at: moment, isCompacted: fc.boolean() });
const drawQuestion = fc.record({
  kind: fc.constant('question' as const),
  from: fc.option(moment, { nil: undefined }),
  to: fc.option(moment, { nil: undefined }),
  versions: fc.option(fc.subarray(deployed, { minLength: 1 }), { nil: undefined }),
  tasks: fc.option(fc.subarray(tasks, { minLength: 1 }), { nil: undefined }),
  sort: fc.constantFrom('lastSeen', 'firstSeen', 'count'),
  size: fc.integer({ min: 1, max: 4 }),
});
const acts = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: flush },
    { weight: 2, arbitrary: prune },
    { weight: 3, arbitrary: drawQuestion },
    { weight: 2, arbitrary: merge },
    { weight: 1, arbitrary: split },
    { weight: 1, arbitrary: upgrade },
  ),
  { minLength: 5, maxLength: 30 },
);

test('counts add up to the recorded failed runs for every range, filter and order, through pruning, merges, splits and upgrades', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (script) => {
      const env = await newEnvironment(sql);
      const ids = await deploy(sql, env, ...deployed);
      const recorded: Occurrence[] = [];
      const answers: { question: Question; counts: Counts; expected: Counts }[] = [];
      let now = 0;
      let upgrades = 0;
      const groups = new Groups();
      for (const act of script) {
        if (act.kind === 'flush') {
          // In any order, including hours that have already been pruned.
          const { at } = act;
          now = Math.max(now, at);
          const failures = act.failures.flatMap(({ times, ...failure }) =>
            Array.from({ length: times }, () => failure),
          );
          const named = failures.map(({ message, ...failure }) => ({
            ...failure,
            message: message + "'".repeat(upgrades),
            older: Array.from({ length: upgrades }, (_, back) => message + "'".repeat(upgrades - 1 - back)),
          }));
          for (const { task, message, older } of named) groups.meet(task, message, older);
          recorded.push(
            ...named.map(({ message, ...failure }) => ({ ...failure, at, fingerprint: message })),
          );
          await recordFailures(
            sql,
            env,
            new Date(start + at),
            named.map((failure) => ({ ...failure, version: ids[failure.version] ?? null })),
          );
        } else if (act.kind === 'upgrade') {
          upgrades += 1;
        } else if (act.kind === 'merge') {
          const { task } = act;
          const id = (message: string) => groupOf(env, { task, message });
          const known = act.others.filter((message) => groups.isKnown(task, message));
          if (!groups.isKnown(task, act.into) || known.length === 0) continue;
          const change = { env, id: id(act.into), now: () => new Date(start + now), principal: secretKey };
          await mergeErrorGroups(sql, { ...change, errors: known.map(id) });
          groups.merge(task, act.into, known);
        } else if (act.kind === 'split') {
          const { task, message } = act;
          if (!groups.isPart(task, message)) continue;
          const change = {
            env,
            id: groupOf(env, act),
            now: () => new Date(start + now),
            principal: secretKey,
          };
          expect(await splitErrorGroup(sql, { ...change, fingerprints: [message] })).toMatchObject({
            id: groupOf(env, act),
          });
          groups.split(task, message);
        } else if (act.kind === 'prune') {
          now = Math.max(now, act.at);
          while (await deleteOldHours(sql, new Date(start + now), ages));
          let more = act.isCompacted;
          while (more) more = await compactTallies(sql, new Date(start + now), ages);
        } else {
          answers.push({
            question: act,
            counts: await requestCounts(env, act, now),
            expected: expectedCounts(recorded, groups.snapshot(), act, now),
          });
        }
      }
      for (const { counts, expected, question } of answers)
        expect({ question, counts }).toEqual({ question, counts: expected });
      await checkTrends(env, recorded, now);
      await checkHours(env);
    }),
    { numRuns: numRuns(60) },
  );
}, 120_000);

test('failures at the same moment that are tallied separately are counted together', async () => {
  const env = await newEnvironment(sql);
  const everything = { kind: 'question', sort: 'count', size: 4, to: hourMs, from: undefined } as const;
  for (const times of [1, 2, 3]) {
    await recordFailures(
      sql,
      env,
      new Date(start),
      Array.from({ length: times }, () => ({ message: 'a', task: 'one' })),
    );
    await requestCounts(env, { ...everything, versions: undefined, tasks: undefined }, hourMs);
  }
  expect(await requestCounts(env, { ...everything, versions: undefined, tasks: undefined }, hourMs)).toEqual({
    'one a': 6,
  });
  await checkHours(env);
});

/** The group of each fingerprint, by the task and the fingerprint that the group started with. */
class Groups {
  readonly #of = new Map<string, string>();

  meet(task: string, fingerprint: string, older: readonly string[]): void {
    const key = `${task} ${fingerprint}`;
    if (this.#of.has(key)) return;
    const before = older.map((old) => this.#of.get(`${task} ${old}`)).find((group) => group !== undefined);
    this.#of.set(key, before ?? key);
  }

  isKnown = (task: string, fingerprint: string): boolean => this.#of.has(`${task} ${fingerprint}`);

  /** Whether it is in a group that started with another fingerprint. */
  isPart(task: string, fingerprint: string): boolean {
    const key = `${task} ${fingerprint}`;
    return this.#of.has(key) && this.#of.get(key) !== key;
  }

  merge(task: string, into: string, others: readonly string[]): void {
    const target = this.#of.get(`${task} ${into}`) as string;
    const gone = new Set(others.map((other) => this.#of.get(`${task} ${other}`)));
    for (const [key, group] of this.#of) if (gone.has(group)) this.#of.set(key, target);
  }

  split(task: string, fingerprint: string): void {
    this.#of.set(`${task} ${fingerprint}`, `${task} ${fingerprint}`);
  }

  snapshot = (): ReadonlyMap<string, string> => new Map(this.#of);
}

type Counts = Record<string, number>;
type Question = typeof drawQuestion extends fc.Arbitrary<infer Q> ? Q : never;

/** Ranges that extend into hourly or daily counts include each hour or day that they touch in full. */
function expectedCounts(
  recorded: readonly Occurrence[],
  groups: ReadonlyMap<string, string>,
  question: Question,
  now: number,
): Record<string, number> {
  const floor = (at: number, width: number) => Math.floor(at / width) * width;
  const widthAt = (at: number) => {
    if (at < floor(now - ages.days, dayMs)) return dayMs;
    return at < floor(now - ages.hours, hourMs) ? hourMs : 1;
  };
  const from = question.from === undefined ? -1 : floor(question.from, widthAt(question.from));
  const to =
    question.to === undefined
      ? Infinity
      : floor(question.to, widthAt(question.to)) + widthAt(question.to) - 1;
  const counts: Counts = {};
  for (const { at, task, fingerprint, version } of recorded) {
    if (at < from || at > to) continue;
    if (question.tasks && !question.tasks.includes(task)) continue;
    if (question.versions && !question.versions.includes(deployed[version] ?? '')) continue;
    const group = groups.get(`${task} ${fingerprint}`) ?? '';
    counts[group] = (counts[group] ?? 0) + 1;
  }
  return counts;
}

async function requestCounts(env: number, question: Question, now: number): Promise<Counts> {
  const parameters: Record<string, string> = { 'page[size]': String(question.size), sort: question.sort };
  if (question.from !== undefined) parameters['filter[from]'] = String(start + question.from);
  if (question.to !== undefined) parameters['filter[to]'] = String(start + question.to);
  if (question.versions) parameters['filter[version]'] = question.versions.join();
  if (question.tasks) parameters['filter[taskIdentifier]'] = question.tasks.join();
  const items: ErrorGroup[] = [];
  let after: string | undefined;
  do {
    const query = listErrors.query.parse(
      after === undefined ? parameters : { ...parameters, 'page[after]': after },
    );
    const page = await listErrorGroups(sql, { env, query, now: new Date(start + now), ages });
    items.push(...page.data);
    after = page.pagination.next;
  } while (after !== undefined);
  const keys = items.map((item) => item[question.sort as keyof ErrorGroup]) as (string | number)[];
  expect(keys).toEqual(keys.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0)));
  return Object.fromEntries(items.map((item) => [`${item.taskIdentifier} ${item.errorMessage}`, item.count]));
}

/** The points of a trend over all time add up to the total. */
async function checkTrends(env: number, recorded: readonly Occurrence[], now: number): Promise<void> {
  const query = listErrors.query.parse({ 'page[size]': '100' });
  const { data } = await listErrorGroups(sql, { env, query, now: new Date(start + now) });
  expect(data.reduce((sum, item) => sum + item.count, 0)).toBe(recorded.length);
  for (const item of data) {
    const group = await retrieveWithTrend(sql, env, item.id, 100 * hourMs, new Date(start + now));
    expect(group?.trend.points.reduce((sum, point) => sum + point.count, 0)).toBe(item.count);
  }
}

/** The sum of the rows of each hour equals the growth of the running totals in it; for old data, of each day. */
async function checkHours(env: number): Promise<void> {
  const wrong = await sql`
    select * from (
      select fingerprint_id, bucket, sum(n) as counted,
             max(total) - coalesce(lag(max(total)) over (partition by fingerprint_id order by bucket), 0) as grown
        from (select t.*, date_bin(case when t.at < h.days_until then interval '1 day' else interval '1 hour' end, t.at, 'epoch') as bucket
                from error_tallies t left join error_compaction h on h.env = t.env where t.env = ${env}) t
       group by 1, 2) h
     where counted <> grown`;
  expect([...wrong]).toEqual([]);
}
