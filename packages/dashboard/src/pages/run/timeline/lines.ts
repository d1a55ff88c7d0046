import type { TimelineEntry } from '@millrace/contract';

/** A part of a bar with its own style: time in a queue, a pause, a wait of the code. */
export interface Segment {
  readonly id: string;
  readonly kind: 'queue' | 'pause' | 'wait';
  readonly label: string;
  readonly from: number;
  readonly to: number;
  /** The run, batch or token for which it waited. */
  readonly target?: string | undefined;
}

/** A log line, at the time it was written. */
export interface LogMark {
  readonly id: string;
  readonly at: number;
  readonly level: string;
  readonly message: string;
}

export type RowEntry = Extract<TimelineEntry, { kind: 'run' | 'attempt' | 'batch' | 'span' | 'step' }>;

/** The content of a line of the waterfall, independent of the layout. */
export interface Line {
  readonly id: string;
  readonly entry: RowEntry;
  readonly from: number;
  readonly to: number;
  readonly isLive: boolean;
  readonly label: string;
  readonly tone: 'good' | 'bad' | 'busy' | 'quiet' | 'waiting' | 'warn';
  readonly segments: readonly Segment[];
  readonly marks: readonly LogMark[];
  readonly children: readonly Line[];
  /** The searchable text, in lower case. */
  readonly text: string;
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
  wait: ['wait', 'suspended, without a process'],
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

function toneOf(entry: RowEntry): Line['tone'] {
  if (entry.kind === 'span') return entry.status === 'error' ? 'bad' : 'quiet';
  if (entry.kind === 'batch') return 'quiet';
  if (failed.has(entry.status)) return 'bad';
  if (entry.status === 'COMPLETED') return 'good';
  if (entry.status === 'EXECUTING' || entry.status === 'DEQUEUED') return 'busy';
  if (entry.status === 'WAITING') return 'waiting';
  return entry.status === 'EXPIRED' ? 'warn' : 'quiet';
}

function labelOf(entry: RowEntry): string {
  if (entry.kind === 'run') return entry.task;
  if (entry.kind === 'attempt') return `Attempt ${entry.number}`;
  if (entry.kind === 'batch') return `Batch of ${entry.runCount.toLocaleString('en')}`;
  return entry.name;
}

const textOf = (entry: RowEntry): string =>
  [labelOf(entry), entry.runId, entry.kind === 'span' || entry.kind === 'step' ? (entry.detail ?? '') : '']
    .join('\n')
    .toLowerCase();

function add<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/**
 * The top-level lines of a timeline, with their children. Time in queues and waits become parts of their bar, log lines become marks on it.
 * Entries in progress end at `now`. Computed once per response: a search only repeats the layout.
 */
export function linesOf(entries: readonly TimelineEntry[], now: number): readonly Line[] {
  const segments = new Map<string, Segment[]>();
  const marks = new Map<string, LogMark[]>();
  const children = new Map<string, RowEntry[]>();
  const roots: RowEntry[] = [];
  const known = new Set(entries.filter(isRow).map(({ id }) => id));
  const endOf = ({ startedAt, endedAt }: TimelineEntry): number =>
    endedAt === undefined ? Math.max(now, Date.parse(startedAt)) : Date.parse(endedAt);
  for (const entry of entries) {
    const { parentId } = entry;
    if (isRow(entry)) {
      if (parentId === undefined || !known.has(parentId)) roots.push(entry);
      else add(children, parentId, entry);
    } else if (parentId !== undefined && entry.kind === 'log') {
      const { id, level, message } = entry;
      add(marks, parentId, { id, at: Date.parse(entry.startedAt), level, message });
    } else if (parentId !== undefined) {
      const segment = segmentOf(entry, endOf(entry));
      if (segment) add(segments, parentId, segment);
    }
  }
  const lineOf = (entry: RowEntry): Line => {
    const below = (children.get(entry.id) ?? []).map(lineOf);
    // A batch has no end unless all of its runs are included: it ends with those that are.
    const isOpenBatch = entry.kind === 'batch' && entry.endedAt === undefined && below.length > 0;
    return {
      id: entry.id,
      entry,
      from: Date.parse(entry.startedAt),
      to: isOpenBatch ? Math.max(...below.map(({ to }) => to)) : endOf(entry),
      isLive: isOpenBatch
        ? below.some((line) => line.entry.endedAt === undefined)
        : entry.endedAt === undefined,
      label: labelOf(entry),
      tone: toneOf(entry),
      segments: segments.get(entry.id) ?? [],
      marks: marks.get(entry.id) ?? [],
      children: below,
      text: textOf(entry),
    };
  };
  return roots.map(lineOf);
}
