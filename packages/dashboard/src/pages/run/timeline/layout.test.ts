import type { TimelineEntry } from '@millrace/contract';
import { describe, expect, test } from 'vitest';
import { layoutTimeline, percent, ticks } from './layout.ts';
import { linesOf } from './lines.ts';
import { entriesOfPages } from './pages.ts';

const at = (second: number): string => new Date(second * 1_000).toISOString();
const run = (id: string, from: number, to?: number, parentId?: string): TimelineEntry => ({
  kind: 'run',
  id,
  parentId,
  runId: id,
  startedAt: at(from),
  endedAt: to === undefined ? undefined : at(to),
  task: `task-${id}`,
  status: to === undefined ? 'EXECUTING' : 'COMPLETED',
  queue: 'q',
  attemptCount: 1,
  hasMoreChildren: false,
  isCut: false,
});
const attempt = (id: string, parentId: string, from: number, to: number): TimelineEntry => ({
  kind: 'attempt',
  id,
  parentId,
  runId: parentId,
  startedAt: at(from),
  endedAt: at(to),
  number: 1,
  status: 'FAILED',
  durationMs: (to - from) * 1_000,
});

const entries: readonly TimelineEntry[] = [
  run('a', 0),
  { kind: 'waiting', id: 'w', parentId: 'a', runId: 'a', startedAt: at(0), endedAt: at(2), for: 'queue' },
  attempt('t', 'a', 2, 5),
  {
    kind: 'log',
    id: 'l',
    parentId: 't',
    runId: 'a',
    startedAt: at(3),
    level: 'error',
    message: 'no database',
  },
  run('b', 3, 4, 't'),
];
const open = { collapsed: new Set<string>(), isFull: true };

describe('a timeline', () => {
  const { rows, from, to } = layoutTimeline(linesOf(entries, 9_000), 9_000, open);

  test('has a line for each run, attempt, batch and span, children below their parent', () => {
    expect(rows.map(({ id, depth }) => [id, depth])).toEqual([
      ['a', 0],
      ['t', 1],
      ['b', 2],
    ]);
  });

  test('has time in the queue as a part of the bar, and log lines as marks', () => {
    expect(rows[0]?.segments).toMatchObject([{ kind: 'queue', from: 0, to: 2_000 }]);
    expect(rows[1]?.marks).toMatchObject([{ at: 3_000, message: 'no database' }]);
  });

  test('ends now if something is still running', () => {
    expect([from, to]).toEqual([0, 9_000]);
    expect(rows[0]).toMatchObject({ isLive: true, tone: 'busy' });
    expect(rows[1]).toMatchObject({ isLive: false, tone: 'bad' });
  });

  test('hides the descendants of a collapsed line', () => {
    expect(
      layoutTimeline(linesOf(entries, 9_000), 9_000, { collapsed: new Set(['t']), isFull: true }).rows.map(
        ({ id }) => id,
      ),
    ).toEqual(['a', 't']);
  });

  test('finds a line and keeps its ancestors, even if they were collapsed', () => {
    const found = layoutTimeline(linesOf([...entries, run('c', 5, 6, 'a')], 9_000), 9_000, {
      collapsed: new Set(['t']),
      find: 'TASK-B',
      isFull: true,
    });
    expect(found.rows.map(({ id }) => id)).toEqual(['a', 't', 'b']);
  });

  test('merges the only attempt of a run into its line, unless every attempt is shown', () => {
    const compact = layoutTimeline(linesOf(entries, 9_000), 9_000, { collapsed: new Set() });
    expect(compact.rows.map(({ id, depth }) => [id, depth])).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
    expect(compact.rows[0]).toMatchObject({
      attempt: { id: 't' },
      marks: [{ id: 'l' }],
      segments: [{ id: 'w' }],
    });
    const twice = layoutTimeline(linesOf([...entries, attempt('u', 'a', 6, 8)], 9_000), 9_000, {
      collapsed: new Set(),
    });
    expect(twice.rows.map(({ id }) => id)).toEqual(['a', 't', 'b', 'u']);
  });

  test('shows the children of an entry that is not on this page', () => {
    expect(
      layoutTimeline(linesOf([run('x', 1, 2, 'gone')], 9_000), 9_000, open).rows.map(({ depth }) => depth),
    ).toEqual([0]);
  });

  test('ends a partly loaded batch with its loaded runs', () => {
    const batch: TimelineEntry = {
      kind: 'batch',
      id: 'batch_1',
      parentId: 'a',
      runId: 'a',
      startedAt: at(1),
      runCount: 1_000,
    };
    const over = layoutTimeline(
      linesOf([run('a', 0, 9), batch, run('b', 1, 4, 'batch_1')], 90_000),
      90_000,
      open,
    );
    expect(over.rows[1]).toMatchObject({ id: 'batch_1', to: 4_000, isLive: false });
    expect(over.to).toBe(9_000);
    const live = layoutTimeline(
      linesOf([run('a', 0), batch, run('b', 1, undefined, 'batch_1')], 90_000),
      90_000,
      open,
    );
    expect(live.rows[1]).toMatchObject({ id: 'batch_1', to: 90_000, isLive: true });
  });

  test('has an axis even without entries', () => {
    const empty = layoutTimeline(linesOf([], 9_000), 9_000, open);
    expect(empty.to).toBeGreaterThan(empty.from);
  });
});

test('children of later pages are below the attempt that triggered them, without duplicates', () => {
  const pageOf = (next: string | undefined, ...all: readonly TimelineEntry[]) => ({
    at: at(99),
    entries: [...all],
    pagination: next === undefined ? {} : { next },
  });
  const [first, second] = [attempt('1', 'a', 0, 3), attempt('2', 'a', 4, 9)];
  const whole = entriesOfPages([
    pageOf('b', run('a', 0, 9), first, second, run('b', 5, 6, '2')),
    pageOf('c', { ...run('a', 0, 9), hasMoreChildren: true } as TimelineEntry, run('c', 2, 3, 'a')),
    pageOf(undefined, run('a', 0, 9), run('d', 6, 7, 'a'), run('e', 6, 7, 'd')),
  ]);
  expect(whole.map(({ id, parentId }) => [id, parentId])).toEqual([
    ['a', undefined],
    ['1', 'a'],
    ['2', 'a'],
    ['b', '2'],
    ['c', '1'],
    ['d', '2'],
    ['e', 'd'],
  ]);
  expect(whole[0]).toMatchObject({ hasMoreChildren: false });
});

test('the axis has round steps, at most the requested number', () => {
  expect(ticks(1_000, 5)).toEqual([0, 200, 400, 600, 800, 1_000]);
  expect(ticks(95_000, 6)).toEqual([0, 30_000, 60_000, 90_000]);
});

test('bars end at the edges of the window', () => {
  expect(percent(50, 0, 100)).toBe(50);
  expect(percent(-5, 0, 100)).toBe(0);
  expect(percent(500, 0, 100)).toBe(100);
});
