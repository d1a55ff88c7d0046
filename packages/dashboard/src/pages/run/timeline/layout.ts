import type { TimelineEntry } from '@millrace/contract';
import type { Line } from './lines.ts';

/** One line of the waterfall, with its position. */
export interface TimelineRow extends Line {
  readonly depth: number;
  readonly childCount: number;
  readonly isCollapsed: boolean;
  /** The only attempt of a run, shown in the run's line. */
  readonly attempt?: Extract<TimelineEntry, { kind: 'attempt' }>;
}

export interface Timeline {
  readonly rows: readonly TimelineRow[];
  readonly from: number;
  readonly to: number;
}

/**
 * The lines of a timeline, children after their parent. With `find`, only the lines with that text, and their parents. Unless `isFull`, a run
 * with one attempt has it in its own line. The axis of an empty timeline is at `now`.
 */
export function layoutTimeline(
  lines: readonly Line[],
  now: number,
  {
    collapsed,
    find = '',
    isFull = false,
  }: { readonly collapsed: ReadonlySet<string>; readonly find?: string; readonly isFull?: boolean },
): Timeline {
  const needle = find.trim().toLowerCase();
  const rows: TimelineRow[] = [];
  const add = (line: Line, depth: number): void => {
    const attempt = isFull ? undefined : onlyAttempt(line);
    const below = attempt
      ? line.children.flatMap((child) => (child === attempt ? attempt.children : [child]))
      : line.children;
    const isCollapsed = needle === '' && collapsed.has(line.id);
    const at = rows.length;
    rows.push({
      ...line,
      ...(attempt?.entry.kind === 'attempt' && {
        segments: [...line.segments, ...attempt.segments],
        marks: [...line.marks, ...attempt.marks],
        attempt: attempt.entry,
      }),
      depth,
      childCount: below.length,
      isCollapsed,
    });
    if (!isCollapsed) for (const child of below) add(child, depth + 1);
    const isFound = line.text.includes(needle) || attempt?.text.includes(needle) || rows.length > at + 1;
    if (!isFound) rows.pop();
  };
  for (const line of lines) add(line, 0);
  if (rows.length === 0) return { rows, from: now, to: now + 1 };
  const from = rows.reduce((least, row) => Math.min(least, row.from), Infinity);
  const to = rows.reduce((max, row) => Math.max(max, row.to), from + 1);
  return { rows, from, to };
}

function onlyAttempt({ entry, children }: Line): Line | undefined {
  if (entry.kind !== 'run') return undefined;
  const attempts = children.filter((child) => child.entry.kind === 'attempt');
  return attempts.length === 1 ? attempts[0] : undefined;
}

/** The position of a time on the axis, in percent, clamped to its ends. */
export const percent = (at: number, from: number, to: number): number =>
  Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100));

const stepsMs = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000, 86_400_000,
  172_800_000, 604_800_000,
];

/**
 * Ticks of the axis, as milliseconds since the start, at most this many.
 *
 * @example ticks(1_000, 5) // [0, 200, 400, 600, 800, 1000]
 */
export function ticks(lengthMs: number, maxTicks: number): readonly number[] {
  const step = stepsMs.find((candidate) => lengthMs / candidate <= maxTicks) ?? lengthMs / maxTicks;
  return Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, index) => index * step);
}
