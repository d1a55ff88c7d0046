import type { SerializedError } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { tally } from '../../errors/record/tally.ts';
import { cancelRun } from '../cancel/cancel.ts';
import { detachRuns, rescueRunner, takeLeftovers } from '../dispatch/rescue.ts';
import { runPruner } from '../retention/prune.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { createBeginWaits } from '../waits/begin.ts';
import { endDueWaits } from '../waits/due.ts';
import { listAttempts } from './list.ts';

const refused: SerializedError = {
  type: 'BUILT_IN_ERROR',
  name: 'ConnectionRefused',
  message: 'no database',
  stackTrace: 'ConnectionRefused: no database\n    at connect (/srv/app/db.ts:3:9)',
};
const completed = { kind: 'completed', output: null, outputType: 'application/json' } as const;
const second = 1_000;

/** Time advances only through `pass`; the runners are named like those of connections. */
async function start() {
  const t = await testEngine();
  const { clock } = t.engine;
  let now = clock.now();
  clock.now = () => now;
  const begun = now;
  const { id: version, version: name } = await t.register('work');
  const env = t.environment.id;
  for (const id of ['r1', 'r2']) {
    await t.addRunner(id);
    await t.sql`
      with named as (
        insert into runner_names (env, runner_id, host, pid, last_seen_at) values (${env}, ${id}, ${`host of ${id}`}, 7, now())
        returning no)
      update runners set no = named.no from named where id = ${id}`;
  }
  const begin = createBeginWaits(t.engine, t.sql, t.dispatch, () => {});
  const list = (run: string, query: { 'page[size]'?: number; 'page[after]'?: string } = {}) =>
    listAttempts(t.engine, env, run, { 'page[size]': 100, ...query });
  return {
    t,
    env,
    name,
    begin,
    list,
    pass(ms: number) {
      now += ms;
    },
    claim: async (runner = 'r1') => {
      const [attempt] = await t.claim(runner, [version], 1);
      if (!attempt) throw new Error('nothing was claimed');
      return attempt;
    },
    wait: (attempt: { run: string; fence: number }, ms: number) =>
      begin({
        env,
        ...attempt,
        waits: [{ key: `time/${now + ms}`, kind: 'TIME', until: now + ms }],
      }),
    resume: () => t.sql`select run_id from resume_runs(${env}, ${new Date(now)}, 100)`,
    /** The returned data about a run's attempts, in seconds from the beginning. */
    async summary(run: string) {
      const { data } = await list(run);
      const at = (date: string | undefined) => date && (Date.parse(date) - begun) / second;
      return data.map(
        ({ number, status, waitedFor, startedAt, endedAt, durationMs, runner, retryDelayMs }) => ({
          what: `${number} ${status}`,
          before: waitedFor.map(({ kind, from, until }) => `${kind} ${at(from)}-${at(until)}`).join(', '),
          from: at(startedAt),
          until: at(endedAt),
          took: durationMs / second,
          host: runner?.host,
          pause: retryDelayMs === undefined ? undefined : retryDelayMs / second,
        }),
      );
    },
  };
}

const rowsOf = ({ sql }: TestEngine) => sql`select from attempts`;

test('a run that succeeds on its first attempt has no attempt row, but its attempt is returned', async () => {
  const { t, claim, summary, pass, name, list } = await start();
  const { id } = await t.trigger('work');
  pass(2 * second);
  const attempt = await claim();
  pass(second);
  await t.complete({ env: t.environment.id, ...attempt, task: 'work', outcome: completed, revision: 4 });
  expect(await rowsOf(t)).toHaveLength(0);
  expect(await summary(id)).toEqual([
    {
      what: '1 COMPLETED',
      before: 'queue 0-2',
      from: 2,
      until: 3,
      took: 1,
      host: 'host of r1',
      pause: undefined,
    },
  ]);
  expect(await list(id)).toMatchObject({
    data: [{ version: name, variablesRevision: 4, runner: { id: 'r1', pid: 7 } }],
    pagination: {},
  });
});

test('returns retries, lost and released attempts and waits, with the delays between them', async () => {
  const { t, env, claim, summary, pass, wait, resume } = await start();
  const { id } = await t.trigger('work', {
    delay: new Date(t.engine.clock.now() + 5 * second).toISOString(),
  });
  pass(5 * second);
  await t.promote();
  pass(second);
  // fails at 7, tries again at 10
  let attempt = await claim();
  pass(second);
  await t.end(attempt, { kind: 'retry', delayMs: 3 * second, error: refused });
  pass(3 * second);
  await t.promote();
  // its runner is lost at 12
  attempt = await claim();
  pass(2 * second);
  await rescueRunner(t, 'r1', 'connection of r1');
  // returned at 14
  attempt = await claim('r2');
  pass(2 * second);
  await t.end(attempt, { kind: 'released', started: true });
  // waits from 15 to 25
  attempt = await claim('r2');
  pass(second);
  await wait(attempt, 10 * second);
  expect((await summary(id)).at(-1)).toMatchObject({
    what: '2 WAITING',
    from: 14,
    until: undefined,
    took: 1,
  });
  pass(10 * second);
  await endDueWaits(t.engine, 100);
  await resume();
  expect((await summary(id)).at(-1)).toMatchObject({ what: '2 EXECUTING', from: 14, until: undefined });
  pass(second);
  // then waits again, until its process ends at 27
  await wait(attempt, 4 * second);
  pass(second);
  await detachRuns(t, 'r2', [attempt.fence]);
  pass(3 * second);
  await endDueWaits(t.engine, 100);
  pass(second);
  attempt = await claim('r2');
  pass(second);
  await t.end(attempt);

  expect(await summary(id)).toEqual([
    {
      what: '1 FAILED',
      before: 'delay 0-5, queue 5-6',
      from: 6,
      until: 7,
      took: 1,
      host: 'host of r1',
      pause: 3,
    },
    {
      what: '2 LOST',
      before: 'retry 7-10',
      from: 10,
      until: 12,
      took: 2,
      host: 'host of r1',
      pause: undefined,
    },
    { what: '2 RETURNED', before: '', from: 12, until: 14, took: 2, host: 'host of r2', pause: undefined },
    { what: '2 DETACHED', before: '', from: 14, until: 27, took: 2, host: 'host of r2', pause: undefined },
    {
      what: '2 COMPLETED',
      before: 'wait 27-30, queue 30-31',
      from: 31,
      until: 32,
      took: 1,
      host: 'host of r2',
      pause: undefined,
    },
  ]);
  const [run] = await t.sql<
    { attempt: number }[]
  >`select attempt from runs where env = ${env} and id = ${id}`;
  expect(run?.attempt).toBe(2);
});

test("a retried attempt's error is stored truncated, with its error group if one exists", async () => {
  const { t, env, claim, list, pass } = await start();
  const { id } = await t.trigger('work');
  const long = { ...refused, stackTrace: 'x'.repeat(20_000), causes: [refused] };
  await t.end(await claim(), { kind: 'retry', delayMs: 0, error: long });
  const [before] = (await list(id)).data;
  expect(before?.error).toEqual({
    name: 'ConnectionRefused',
    message: 'no database',
    stackTrace: 'x'.repeat(8_192),
  });
  // A retry is not an occurrence: there is no group yet.
  await tally(t.sql, env);
  expect((await list(id)).data[0]?.error).not.toHaveProperty('group');
  pass(second);
  await t.promote();
  await t.end(await claim(), { kind: 'failed', status: 'FAILED', error: long });
  await tally(t.sql, env);
  const [group] = await t.sql<{ id: string; total: string }[]>`select id, total from error_groups`;
  expect(group?.total).toBe('1');
  expect((await list(id)).data.map(({ status, error }) => [status, error?.group])).toEqual([
    ['FAILED', group?.id],
    ['FAILED', group?.id],
  ]);
});

test('an abandoned attempt never overwrites a newer one, even with repeated reports', async () => {
  const { t, claim, summary } = await start();
  const { id } = await t.trigger('work');
  const old = await claim();
  await rescueRunner(t, 'r1', 'connection of r1');
  const newer = await claim('r2');
  for (const outcome of [
    completed,
    { kind: 'retry', delayMs: 0, error: refused },
    { kind: 'released', started: true },
  ] as const) {
    expect((await t.end(old, outcome)).stale).toBe(true);
  }
  expect((await summary(id)).map(({ what, host }) => [what, host])).toEqual([
    ['1 LOST', 'host of r1'],
    ['1 EXECUTING', 'host of r2'],
  ]);
  await t.end(newer, { kind: 'retry', delayMs: 0, error: refused });
  // The response was lost, so the call is repeated.
  expect((await t.end(newer, { kind: 'retry', delayMs: 0, error: refused })).stale).toBe(true);
  expect(await rowsOf(t)).toHaveLength(2);
});

test('a stopping runner returns attempts that may have started, and one that never started is not counted', async () => {
  const { t, claim, summary } = await start();
  const { id } = await t.trigger('work');
  await t.end(await claim(), { kind: 'released' });
  expect(await summary(id)).toEqual([]);
  await claim();
  await takeLeftovers(t, 'r1', 'connection of r1');
  expect((await summary(id)).map(({ what }) => what)).toEqual(['1 RETURNED']);
});

test('a run that ends without an attempt has no final attempt', async () => {
  const { t, env, claim, summary } = await start();
  const { id } = await t.trigger('work');
  await t.end(await claim(), { kind: 'retry', delayMs: 60_000, error: refused });
  await cancelRun(t.engine, t.runners, env, id);
  expect((await summary(id)).map(({ what }) => what)).toEqual(['1 FAILED']);
  const other = await t.trigger('work');
  const attempt = await claim();
  await cancelRun(t.engine, t.runners, env, other.id);
  await t.end(attempt);
  expect((await summary(other.id)).map(({ what }) => what)).toEqual(['1 CANCELED']);
});

test('many attempts are returned in pages that continue from each other', async () => {
  const { t, claim, list, pass } = await start();
  const { id } = await t.trigger('work');
  for (let n = 0; n < 5; n++) {
    await t.end(await claim(), { kind: 'retry', delayMs: second, error: refused });
    pass(second);
    await t.promote();
  }
  await t.end(await claim());
  const all = (await list(id)).data;
  expect(all.map(({ number, status }) => `${number} ${status}`)).toEqual([
    '1 FAILED',
    '2 FAILED',
    '3 FAILED',
    '4 FAILED',
    '5 FAILED',
    '6 COMPLETED',
  ]);
  const paged: typeof all = [];
  let after: string | undefined;
  do {
    const { data, pagination } = await list(id, { 'page[size]': 2, ...(after && { 'page[after]': after }) });
    paged.push(...data);
    after = pagination.next;
  } while (after !== undefined);
  expect(paged).toEqual(all);
});

test('attempts are deleted with their run', async () => {
  const { t, claim, pass } = await start();
  await t.trigger('work');
  await t.end(await claim(), { kind: 'retry', delayMs: 0, error: refused });
  await t.promote();
  await t.end(await claim());
  expect(await rowsOf(t)).toHaveLength(1);
  pass(2 * 86_400_000);
  await runPruner(t.engine, 86_400_000).tick();
  expect(await rowsOf(t)).toHaveLength(0);
});
