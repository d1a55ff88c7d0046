import type { TimelineEntry } from '@millrace/contract';

/** A part of a bar that is drawn otherwise: time in a queue, a pause, a wait of the code. */
export interface Segment {
  readonly id: string;
  readonly kind: 'queue' | 'pause' | 'wait';
  readonly label: string;
  readonly from: number;
  readonly to: number;
  /** The run, batch or token that it waited for. */
  readonly target?: string | undefined;
}

/** A line of a log, where it was written. */
export interface LogMark {
  readonly id: string;
  readonly at: number;
  readonly level: string;
  readonly message: string;
}

type RowEntry = Extract<TimelineEntry, { kind: 'run' | 'attempt' | 'batch' | 'span' | 'step' }>;

/** One line of the waterfall. */
export interface TimelineRow {
  readonly id: string;
  readonly entry: RowEntry;
  readonly depth: number;
  readonly from: number;
  readonly to: number;
  readonly isLive: boolean;
  readonly label: string;
  readonly tone: 'good' | 'bad' | 'busy' | 'quiet' | 'held' | 'warn';
  readonly segments: readonly Segment[];
  readonly marks: readonly LogMark[];
  readonly childCount: number;
  readonly isCollapsed: boolean;
  /** Of a run whose only attempt is shown in its own line. */
  readonly attempt?: Extract<TimelineEntry, { kind: 'attempt' }>;
}

export interface Timeline {
  readonly rows: readonly TimelineRow[];
  readonly from: number;
  readonly to: number;
}

const isRow = (entry: TimelineEntry): entry is RowEntry =>
  entry.kind === 'run' ||
  entry.kind === 'attempt' ||
  entry.kind === 'batch' ||
  entry.kind === 'span' ||
  entry.kind === 'step';

const waitingLabels: Readonly<Record<string, readonly [Segment['kind'], string]>> = {
  queue: ['queue', 'in the queue'],
  delay: ['pause', 'delayed'],
  retry: ['pause', 'pause before the next attempt'],
  batch: ['pause', 'until its batch is complete'],
  wait: ['wait', 'its code waited, without a process'],
};

const waitLabels: Readonly<Record<string, string>> = {
  RUN: 'waits for a run',
  BATCH: 'waits for a batch',
  TIME: 'waits for a time',
  TOKEN: 'waits for a token',
  MESSAGE: 'waits for a message',
};

function segmentOf(entry: TimelineEntry, to: number): Segment | undefined {
  const from = Date.parse(entry.startedAt);
  if (entry.kind === 'waiting') {
    const [kind, label] = waitingLabels[entry.for] ?? ['pause', entry.for];
    return { id: entry.id, kind, label, from, to };
  }
  if (entry.kind === 'wait')
    return {
      id: entry.id,
      kind: 'wait',
      label: waitLabels[entry.for] ?? entry.for,
      from,
      to,
      target: entry.target,
    };
  return undefined;
}

const failed = new Set(['FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'TIMED_OUT', 'LOST']);

function toneOf(entry: RowEntry): TimelineRow['tone'] {
  if (entry.kind === 'span') return entry.status === 'error' ? 'bad' : 'quiet';
  if (entry.kind === 'batch') return 'quiet';
  if (failed.has(entry.status)) return 'bad';
  if (entry.status === 'COMPLETED') return 'good';
  if (entry.status === 'EXECUTING' || entry.status === 'DEQUEUED') return 'busy';
  if (entry.status === 'WAITING') return 'held';
  return entry.status === 'EXPIRED' ? 'warn' : 'quiet';
}

function labelOf(entry: RowEntry): string {
  if (entry.kind === 'run') return entry.task;
  if (entry.kind === 'attempt') return `Attempt ${entry.number}`;
  if (entry.kind === 'batch') return `Batch of ${entry.runCount.toLocaleString('en')}`;
  return entry.name;
}

/**
 * The lines of a timeline. Time in queues and waits become parts of the bar that they belong to, log lines marks on it; the rest are lines below each
 * other, children after their parent. What goes on ends at `now`. With `find`, only the lines with that text, and what they are below. Unless
 * `isFull`, a run with one attempt has it in its own line.
 */
export function layoutTimeline(
  entries: readonly TimelineEntry[],
  now: number,
  {
    collapsed,
    find = '',
    isFull = false,
  }: { readonly collapsed: ReadonlySet<string>; readonly find?: string; readonly isFull?: boolean },
): Timeline {
  const endOf = (entry: TimelineEntry): number =>
    entry.endedAt === undefined ? Math.max(now, Date.parse(entry.startedAt)) : Date.parse(entry.endedAt);
  const segments = new Map<string, Segment[]>();
  const marks = new Map<string, LogMark[]>();
  const children = new Map<string, RowEntry[]>();
  const known = new Set(entries.filter(isRow).map(({ id }) => id));
  const roots: RowEntry[] = [];
  const push = <T>(map: Map<string, T[]>, key: string, value: T): void => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };
  for (const entry of entries) {
    const { parentId } = entry;
    if (isRow(entry)) {
      if (parentId === undefined || !known.has(parentId)) roots.push(entry);
      else push(children, parentId, entry);
    } else if (parentId !== undefined && entry.kind === 'log') {
      const { id, level, message } = entry;
      push(marks, parentId, { id, at: Date.parse(entry.startedAt), level, message });
    } else if (parentId !== undefined) {
      const segment = segmentOf(entry, endOf(entry));
      if (segment) push(segments, parentId, segment);
    }
  }

  const wanted = find.trim().toLowerCase();
  const matches = (entry: RowEntry): boolean =>
    [labelOf(entry), entry.runId, entry.kind === 'span' || entry.kind === 'step' ? (entry.detail ?? '') : '']
      .join('\n')
      .toLowerCase()
      .includes(wanted);
  const isShown = (entry: RowEntry): boolean =>
    wanted === '' || matches(entry) || (children.get(entry.id) ?? []).some(isShown);

  const rows: TimelineRow[] = [];
  let [from, to] = [Infinity, -Infinity];
  const add = (entry: RowEntry, depth: number): void => {
    if (!isShown(entry)) return;
    const direct = children.get(entry.id) ?? [];
    const attempts = direct.filter(({ kind }) => kind === 'attempt');
    const attempt = !isFull && entry.kind === 'run' && attempts.length === 1 ? attempts[0] : undefined;
    const below = attempt
      ? direct.flatMap((child) => (child === attempt ? (children.get(attempt.id) ?? []) : [child]))
      : direct;
    const own = attempt ? [entry.id, attempt.id] : [entry.id];
    const isCollapsed = wanted === '' && collapsed.has(entry.id);
    const start = Date.parse(entry.startedAt);
    // A batch has no end unless all of its runs are here: it ends with those that are.
    const inside = entry.kind === 'batch' && entry.endedAt === undefined ? direct : [];
    const end = inside.length > 0 ? Math.max(...inside.map(endOf)) : endOf(entry);
    const isLive =
      inside.length > 0 ? inside.some(({ endedAt }) => endedAt === undefined) : entry.endedAt === undefined;
    from = Math.min(from, start);
    to = Math.max(to, end);
    rows.push({
      id: entry.id,
      entry,
      depth,
      from: start,
      to: end,
      isLive,
      label: labelOf(entry),
      tone: toneOf(entry),
      segments: own.flatMap((id) => segments.get(id) ?? []),
      marks: own.flatMap((id) => marks.get(id) ?? []),
      childCount: below.length,
      isCollapsed,
      ...(attempt?.kind === 'attempt' && { attempt }),
    });
    if (!isCollapsed) for (const child of below) add(child, depth + 1);
  };
  for (const root of roots) add(root, 0);
  return rows.length === 0 ? { rows, from: now, to: now + 1 } : { rows, from, to: Math.max(to, from + 1) };
}

/** Where a time is on the axis, in percent, cut at its ends. */
export const percent = (at: number, from: number, to: number): number =>
  Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100));

const stepsMs = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000, 86_400_000,
  172_800_000, 604_800_000,
];

/**
 * Marks of the axis, as milliseconds since the start, at most so many.
 *
 * @example ticks(1_000, 5) // [0, 200, 400, 600, 800, 1000]
 */
export function ticks(lengthMs: number, most: number): readonly number[] {
  const step = stepsMs.find((one) => lengthMs / one <= most) ?? lengthMs / most;
  return Array.from({ length: Math.floor(lengthMs / step) + 1 }, (_, index) => index * step);
}
