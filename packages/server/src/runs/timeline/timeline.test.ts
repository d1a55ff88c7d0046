import type { TimelineEntry } from '@millrace/contract';
import { spanLimits, type EndedSpan, type SerializedError } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { createRedactor } from '../../envvars/redact/redactor.ts';
import { cancelRun } from '../cancel/cancel.ts';
import { createStoreLines } from '../logs/store.ts';
import { testEngine } from '../testing/engine.ts';
import { createBeginWaits } from '../waits/begin.ts';
import { endDueWaits } from '../waits/due.ts';
import { clockOffset } from './fit.ts';
import type { TimelineRun } from './read.ts';
import { timelineOf } from './timeline.ts';

const error: SerializedError = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' };
const second = 1_000;

interface TimelineOptions {
  readonly depth?: number;
  readonly logs?: number;
  readonly size?: number;
  readonly after?: string;
  readonly mayRead?: (run: TimelineRun) => boolean;
}

/** Time advances only through `pass`. */
async function start() {
  const t = await testEngine();
  const { clock } = t.engine;
  let now = clock.now();
  const begun = now;
  clock.now = () => now;
  const version = await t.register('order', 'mail');
  await t.addRunner('r1');
  const env = t.environment.id;
  const begin = createBeginWaits(t.engine, t.sql, t.dispatch, () => {});
  const seconds = (date: string) => (Date.parse(date) - begun) / second;
  const timeline = async (
    run: string,
    { depth = 2, logs = 50, size = 100, after, mayRead = () => true }: TimelineOptions = {},
  ) => {
    const found = await timelineOf(
      t.engine,
      env,
      run,
      { depth, logs, 'page[size]': size, 'page[after]': after },
      mayRead,
    );
    if (!found) throw new Error('no timeline');
    return found;
  };
  const outline = (entries: readonly TimelineEntry[]) => {
    const levels = new Map<string, number>();
    return entries.map((entry) => {
      const level = entry.parentId === undefined ? 0 : (levels.get(entry.parentId) ?? 0) + 1;
      levels.set(entry.id, level);
      const span = `${seconds(entry.startedAt)}-${entry.endedAt === undefined ? '' : seconds(entry.endedAt)}`;
      return `${'  '.repeat(level)}${nameOf(entry)} ${span}`;
    });
  };
  return {
    t,
    env,
    now: () => now,
    pass(ms: number) {
      now += ms;
    },
    claim: async () => {
      const [attempt] = await t.claim('r1', [version.id], 1);
      if (!attempt) throw new Error('nothing was claimed');
      return attempt;
    },
    begin,
    resume: () => t.sql`select run_id from resume_runs(${env}, ${new Date(now)}, 100)`,
    log: (run: string, attempt: number, at: number, message: string) => t.sql`
      insert into run_logs (env, run_id, attempt, at, level, message)
      values (${env}, ${run}, ${attempt}, ${new Date(at)}, 'info', ${message})`,
    timeline,
    outline,
  };
}

function nameOf(entry: TimelineEntry): string {
  switch (entry.kind) {
    case 'run':
      return `${entry.task} ${entry.status}${entry.hasMoreChildren ? ' (more)' : ''}${entry.isCut ? ' (cut)' : ''}`;
    case 'waiting':
      return entry.for;
    case 'attempt':
      return `#${entry.number} ${entry.status}`;
    case 'wait':
      return `for ${entry.for} ${entry.endedBy ?? ''}${entry.targetStatus ? ` ${entry.targetStatus}` : ''}`.trim();
    case 'batch':
      return `batch of ${entry.runCount}`;
    case 'log':
      return `"${entry.message}"`;
    case 'step':
      return `step ${entry.name}`;
    case 'span':
      return `${entry.name}${entry.detail === undefined ? '' : `: ${entry.detail}`}`;
  }
}

test('a run with three attempts, a wait, a child and lines is shown on one clock, regardless of the runner clock', async () => {
  const s = await start();
  const { t, env, claim, pass, begin, resume, log } = s;
  const { id } = await t.trigger('order', { delay: new Date(s.now() + 2 * second).toISOString() });
  pass(2 * second);
  await t.promote();
  pass(second);
  let attempt = await claim();
  // Its runner's clock is an hour ahead, and the lines arrive in order.
  const runner = 3_600 * second;
  await log(id, 1, s.now() + runner, 'begins');
  pass(second);
  await log(id, 1, s.now() + runner, 'fails');
  await t.end(attempt, { kind: 'retry', delayMs: 3 * second, error });
  pass(3 * second);
  await t.promote();
  attempt = await claim();
  await t.end(attempt, { kind: 'released', started: true });
  attempt = await claim();
  pass(second);
  const child = await t.trigger('mail', { parentRunId: id });
  await begin({ env, ...attempt, waits: [{ key: 'run/mail/1', kind: 'RUN', target: child.id }] });
  pass(second);
  const childAttempt = await claim();
  expect(childAttempt.run).toBe(child.id);
  pass(4 * second);
  await t.end(childAttempt);
  await resume();
  pass(second);
  await t.end(attempt);

  const { entries } = await s.timeline(id);
  expect(s.outline(entries)).toEqual([
    'order COMPLETED 0-14',
    '  delay 0-2',
    '  queue 2-3',
    '  #1 FAILED 3-4',
    '    "begins" 3-3',
    '    "fails" 4-4',
    '  retry 4-7',
    '  #2 RETURNED 7-7',
    '  #2 COMPLETED 7-14',
    '    mail COMPLETED 8-13',
    '      queue 8-9',
    '      #1 COMPLETED 9-13',
    '    for RUN RUN_ENDED COMPLETED 8-13',
  ]);
});

test('unfinished entries have no end, and the current wait is included', async () => {
  const s = await start();
  const { t, env, claim, pass, begin } = s;
  const until = new Date(s.now() + 60 * second).toISOString();
  const delayed = await t.trigger('order', { delay: until });
  expect(s.outline((await s.timeline(delayed.id)).entries)).toEqual(['order DELAYED 0-', '  delay 0-']);
  const { id } = await t.trigger('order');
  pass(second);
  expect(s.outline((await s.timeline(id)).entries)).toEqual(['order QUEUED 0-', '  queue 0-']);
  const attempt = await claim();
  await begin({ env, ...attempt, waits: [{ key: 'time/1', kind: 'TIME', until: s.now() + 5 * second }] });
  expect(s.outline((await s.timeline(id)).entries)).toEqual([
    'order WAITING 0-',
    '  queue 0-1',
    '  #1 WAITING 1-',
    '    for TIME 1-',
  ]);
  pass(5 * second);
  await endDueWaits(t.engine, 10);
  await t.end(attempt, { kind: 'retry', delayMs: 9 * second, error });
  expect(s.outline((await s.timeline(id)).entries)).toEqual([
    'order EXECUTING 0-',
    '  queue 0-1',
    '  #1 FAILED 1-6',
    '    for TIME TIME_REACHED 1-6',
    '  retry 6-',
  ]);
  pass(second);
  await cancelRun(t.engine, t.runners, env, id);
  expect(s.outline((await s.timeline(id)).entries).slice(-1)).toEqual(['  retry 6-7']);
});

test('a wait that outlived its attempt is marked', async () => {
  const s = await start();
  const { t, env, claim, pass, begin } = s;
  const { id } = await t.trigger('order');
  const attempt = await claim();
  await begin({ env, ...attempt, waits: [{ key: 'time/1', kind: 'TIME', until: s.now() + 60 * second }] });
  pass(second);
  await t.end(attempt, { kind: 'failed', status: 'TIMED_OUT', error });
  expect(s.outline((await s.timeline(id)).entries)).toEqual([
    'order TIMED_OUT 0-1',
    '  #1 TIMED_OUT 0-1',
    '    for TIME ATTEMPT_ENDED 0-1',
  ]);
});

test('many children are paged, deeper ones are truncated, and no entry is repeated', async () => {
  const s = await start();
  const { t, claim } = s;
  const { id } = await t.trigger('order');
  const attempt = await claim();
  const first = await t.trigger('mail', { parentRunId: id });
  await t.sql`
    insert into runs (env, id, task, queue_id, sort_key, created_at, parent_id, root_id, depth)
    select env, left(id, 12) || lpad(n::text, 5, '0'), task, queue_id, sort_key, created_at, parent_id, root_id, depth
      from runs, generate_series(1, 9999) as n where id = ${first.id}`;
  const seen: string[] = [];
  let pages = 0;
  let after: string | undefined;
  do {
    const { entries, pagination } = await s.timeline(id, { size: 500, ...(after && { after }) });
    const runs = entries.filter((entry) => entry.kind === 'run');
    const parents = new Set(runs.map((run) => run.id));
    for (const entry of entries) {
      const { parentId } = entry;
      // The entries of an attempt are below it on the first page only.
      if (parentId !== undefined && after !== undefined) expect(parents).toContain(parentId);
    }
    seen.push(...runs.slice(1).map((run) => run.id));
    expect(runs[0]).toMatchObject({ id, hasMoreChildren: pagination.next !== undefined });
    after = pagination.next;
    pages++;
  } while (after !== undefined);
  expect(pages).toBe(20);
  expect(seen).toHaveLength(10_000);
  expect(new Set(seen).size).toBe(10_000);
  expect(seen).toEqual(seen.toSorted());
  const youngest = seen.at(-1) ?? '';
  await t.sql`
    insert into runs (env, id, task, queue_id, sort_key, created_at, parent_id, root_id, depth)
    select env, 'run_zzzzzzzz' || n, task, queue_id, sort_key, created_at, id, root_id, 2
      from runs, generate_series(1, 300) as n where id = ${youngest}`;
  const some = await s.timeline(id, { size: 500, after: seen.at(-3) as string });
  const runs = some.entries.filter((entry) => entry.kind === 'run');
  expect(runs).toHaveLength(3 + 20);
  expect(runs.find((run) => run.id === youngest)).toMatchObject({ hasMoreChildren: true });
  const own = await s.timeline(youngest, { size: 500 });
  expect(own.entries.filter((entry) => entry.kind === 'run')).toHaveLength(301);
  const alone = await s.timeline(youngest, { depth: 0 });
  expect(alone.entries).toMatchObject([{ id: youngest, hasMoreChildren: true }, { kind: 'waiting' }]);
  await t.end(attempt);
});

test('the runs of a batch are below the batch, which is below the attempt that sent it', async () => {
  const s = await start();
  const { t, env, claim, pass } = s;
  const { id } = await t.trigger('order');
  await claim();
  pass(second);
  await t.sql`
    insert into batches (env, id, run_count, received, parent_run_id, created_at, sealed_at)
    values (${env}, 'batch_1', 2, 2, ${id}, ${new Date(s.now())}, ${new Date(s.now() + second)})`;
  pass(2 * second);
  for (let n = 0; n < 2; n++) {
    const child = await t.trigger('mail', { parentRunId: id });
    await t.sql`update runs set batch_id = 'batch_1', created_at = ${new Date(s.now() - 2 * second)} where id = ${child.id}`;
    pass(second);
    await t.end(await claim());
  }
  expect(s.outline((await s.timeline(id)).entries)).toEqual([
    'order EXECUTING 0-',
    '  #1 EXECUTING 0-',
    '    batch of 2 1-5',
    '      mail COMPLETED 1-4',
    '        batch 1-2',
    '        queue 2-4',
    '        #1 COMPLETED 4-4',
    '      mail COMPLETED 2-5',
    '        queue 2-5',
    '        #1 COMPLETED 5-5',
  ]);
});

test('a child that the caller may not read is shown without details', async () => {
  const s = await start();
  const { t, claim, log } = s;
  const { id } = await t.trigger('order');
  await claim();
  const child = await t.trigger('mail', { parentRunId: id });
  const attempt = await claim();
  await log(child.id, 1, s.now(), 'a secret of mail');
  await t.end(attempt, { kind: 'failed', status: 'FAILED', error });
  const all = await s.timeline(id);
  expect(JSON.stringify(all)).toContain('a secret of mail');
  const some = await s.timeline(id, { mayRead: (run) => run.task !== 'mail' });
  expect(s.outline(some.entries)).toEqual(['order EXECUTING 0-', '  #1 EXECUTING 0-', '    mail FAILED 0-0']);
});

test('lines beyond the limit are dropped from the start', async () => {
  const s = await start();
  const { t, claim, log } = s;
  const { id } = await t.trigger('order');
  await claim();
  for (let n = 1; n <= 4; n++) await log(id, 1, s.now(), `line ${n}`);
  const lines = async (logs: number) => s.outline((await s.timeline(id, { logs })).entries);
  expect(await lines(4)).toHaveLength(6);
  expect(await lines(2)).toEqual([
    'order EXECUTING (cut) 0-',
    '  #1 EXECUTING 0-',
    '    "line 3" 0-0',
    '    "line 4" 0-0',
  ]);
  expect(await lines(0)).toHaveLength(2);
});

test('spans are below their attempt or each other, for any input', async () => {
  const s = await start();
  const { t, env, claim, pass } = s;
  const { id } = await t.trigger('order');
  const attempt = await claim();
  const store = createStoreLines(t.engine, () => createRedactor([]));
  const idOf = (n: number) => n.toString(16).padStart(16, '0');
  // The runner's clock is a day behind.
  const at = (seconds: number) => (s.now() - 86_400 * second) * 1_000 + seconds * 1_000_000;
  const span = (n: number, seconds: number, took: number, more: Partial<EndedSpan> = {}): EndedSpan => ({
    id: idOf(n),
    name: `span ${n}`,
    at: at(seconds),
    took: took * 1_000_000,
    ...more,
  });
  const query = { 'db.statement': 'select 1' };
  const spans = [
    span(3, 2.5, 0.0005, { parent: idOf(2), attributes: query, kind: 'client' }),
    span(2, 2, 1, { parent: idOf(1) }),
    span(1, 1, 3),
    // a cycle, a span whose parent is missing, and a span that occurs twice
    span(10, 5, 1, { parent: idOf(11) }),
    span(11, 5, 1, { parent: idOf(10) }),
    span(12, 6, 1, { parent: idOf(99) }),
    span(12, 6, 1, { name: 'again' }),
  ];
  // deeper than the maximum depth
  const chain = Array.from({ length: 200 }, (_, n) =>
    span(100 + n, 7, 1, n === 0 ? {} : { parent: idOf(99 + n) }),
  );
  pass(9 * second);
  const chunk = { run: id, attempt: 1, trace: 'a'.repeat(32), spans: [...spans, ...chain] };
  await (
    await store({ env, lines: [], spans: [chunk] })
  ).stored;
  pass(second);
  await t.end(attempt);
  const { entries } = await s.timeline(id);
  const outline = s.outline(entries);
  // Moved so that the first one begins with the attempt, because the clock is behind by an unknown amount.
  expect(outline.slice(0, 8)).toEqual([
    'order COMPLETED 0-10',
    '  #1 COMPLETED 0-10',
    '    span 1 0-3',
    '      span 2 1-2',
    '        span 3: select 1 1.5-1.5',
    '    span 10 4-5',
    '    span 11 4-5',
    '    span 12 5-6',
  ]);
  expect(entries.find((entry) => entry.id.endsWith(idOf(3)))).toMatchObject({
    durationMs: 0.5,
    spanKind: 'client',
  });
  expect(outline.filter((line) => line.includes('span 1')).length).toBeGreaterThan(100);
  expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length);
  expect(entries.filter((entry) => entry.kind === 'span')).toHaveLength(206);
  const deepest = Math.max(...outline.map((line) => /^ */.exec(line)?.[0].length ?? 0)) / 2;
  expect(deepest).toBe(1 + spanLimits.depth);
});

test('times of another clock are all shifted equally into their attempt', () => {
  expect(clockOffset(12, 18, 10, 20)).toBe(0);
  expect(clockOffset(112, 118, 10, 20)).toBe(-98);
  expect(clockOffset(2, 8, 10, 20)).toBe(8);
  // If the other clock runs faster, times are aligned with the start of the attempt.
  expect(clockOffset(0, 30, 10, 20)).toBe(10);
  expect(clockOffset(12, 32, 10, 20)).toBe(-2);
});
