import type { RunTimeline, TimelineEntry } from '@millrace/sdk';
import { readableDuration } from '@millrace/contract/plain';
import type { Screen } from './screen.ts';
import { escapeCell } from './terminal-text.ts';

const barWidth = 16;
const minLabel = 24;
const maxIndent = 12;

/** Prints a timeline as a tree: the start, duration, relative position and label of each entry. */
export function printTimeline(
  { at, entries, next }: RunTimeline,
  { line, paint }: Screen,
  columns = 80,
): void {
  const [root] = entries;
  if (root?.kind !== 'run') return;
  const begin = root.startedAt.getTime();
  const ends = entries.map((entry) => (entry.endedAt ?? at).getTime());
  const whole = Math.max(1, ends.reduce((last, end) => Math.max(last, end), begin) - begin);
  const rows = entries.map((entry) => ({
    entry,
    offset: readableDuration(entry.startedAt.getTime() - begin),
    took: isMark(entry) ? '' : `${readableDuration(tookOf(entry, at))}${entry.endedAt ? '' : '+'}`,
    bar: barOf(entry, at, begin, whole),
  }));
  const offsetWidth = Math.max(2, ...rows.map((row) => row.offset.length));
  const tookWidth = Math.max(4, ...rows.map((row) => row.took.length));
  const labelWidth = Math.max(minLabel, columns - offsetWidth - tookWidth - barWidth - 6);
  const colours = { good: paint.green, bad: paint.red, quiet: paint.dim, plain: String, warn: paint.yellow };

  line(paint.dim(`from ${root.startedAt.toISOString()}`));
  line(paint.dim(`${'at'.padStart(offsetWidth)}  ${'took'.padStart(tookWidth)}`));
  const levels = new Map<string, number>();
  for (const { entry, offset, took, bar } of rows) {
    const level = entry.parentId === undefined ? 0 : (levels.get(entry.parentId) ?? 0) + 1;
    levels.set(entry.id, level);
    const indent = '  '.repeat(Math.min(level, maxIndent));
    const room = Math.max(minLabel / 2, labelWidth - indent.length);
    const prefix = `${offset.padStart(offsetWidth)}  ${took.padStart(tookWidth)}  `;
    const colour = colours[toneOf(entry)];
    const [first = '', ...further] = labelOf(entry);
    line(`${prefix}${paint.dim(bar)}  ${indent}${colour(cut(first, room))}`);
    const blank = ' '.repeat(prefix.length + barWidth + 2);
    for (const text of further) line(`${blank}${indent}  ${paint.red(cut(text, room - 2))}`);
    if (entry.kind === 'run' && level > 0 && entry.hasMoreChildren)
      line(`${blank}${indent}  ${paint.dim(cut('… more child runs: show its own timeline', room - 2))}`);
  }
  if (root.isCut) line(paint.dim('Older attempts, waits, lines or spans of this run are omitted.'));
  if (next !== undefined) line(paint.dim(`It has more child runs: --after ${next}`));
}

const isMark = (entry: TimelineEntry): boolean => entry.kind === 'log';

const tookOf = (entry: TimelineEntry, at: Date): number =>
  entry.kind === 'span' ? entry.durationMs : (entry.endedAt ?? at).getTime() - entry.startedAt.getTime();

/** The position of an entry between the start and the end of the timeline. */
function barOf(entry: TimelineEntry, at: Date, begin: number, whole: number): string {
  const column = (date: Date): number =>
    Math.max(0, Math.min(barWidth, ((date.getTime() - begin) / whole) * barWidth));
  const from = Math.min(barWidth - 1, Math.floor(column(entry.startedAt)));
  const until = Math.max(from + 1, Math.ceil(column(entry.endedAt ?? at)));
  const mark = isMark(entry) ? '·' : entry.kind === 'waiting' || entry.kind === 'wait' ? '┄' : '━';
  return `${' '.repeat(from)}${mark.repeat(isMark(entry) ? 1 : until - from)}`.padEnd(barWidth);
}

function toneOf(entry: TimelineEntry): 'good' | 'bad' | 'quiet' | 'plain' | 'warn' {
  switch (entry.kind) {
    case 'run':
    case 'attempt':
      if (entry.status === 'COMPLETED') return 'good';
      return badStatuses.has(entry.status) ? 'bad' : 'warn';
    case 'span':
      return entry.status === 'error' ? 'bad' : 'plain';
    case 'step':
      return entry.status === 'FAILED' ? 'bad' : 'plain';
    case 'log':
      return entry.level === 'error' ? 'bad' : entry.level === 'warn' ? 'warn' : 'quiet';
    default:
      return 'quiet';
  }
}

const badStatuses: ReadonlySet<string> = new Set([
  'FAILED',
  'CRASHED',
  'SYSTEM_FAILURE',
  'TIMED_OUT',
  'EXPIRED',
  'LOST',
]);

const waitings: Readonly<Record<Extract<TimelineEntry, { kind: 'waiting' }>['for'], string>> = {
  batch: 'waiting for its batch',
  delay: 'delay',
  retry: 'pause before the next attempt',
  wait: 'waiting in its code',
  queue: 'in the queue',
};

const waitEnds: Readonly<
  Record<NonNullable<Extract<TimelineEntry, { kind: 'wait' }>['endedBy']>, string | undefined>
> = {
  RUN_ENDED: undefined,
  BATCH_ENDED: 'all ended',
  TOKEN_COMPLETED: 'completed',
  TOKEN_TIMED_OUT: 'timed out',
  TIME_REACHED: undefined,
  MESSAGE_CAME: 'received',
  MESSAGE_TIMED_OUT: 'none received in time',
  ATTEMPT_ENDED: 'the attempt ended first',
};

/** The line of an entry, and lines below it. */
function labelOf(entry: TimelineEntry): string[] {
  switch (entry.kind) {
    case 'run':
      return [`${entry.task} ${entry.status} ${entry.id}`];
    case 'waiting':
      return [waitings[entry.for]];
    case 'attempt': {
      const where = entry.runner ? ` on ${entry.runner.host}` : '';
      const version = entry.version === undefined ? '' : ` (${entry.version})`;
      const { error } = entry;
      return [
        `attempt ${entry.number} ${entry.status}${where}${version}`,
        ...(error ? [`${error.name ?? 'Error'}: ${error.message}`] : []),
        ...(error?.group === undefined ? [] : [error.group]),
      ];
    }
    case 'wait': {
      // The outcome comes first, because ids are long and may be truncated.
      const end = entry.targetStatus ?? (entry.endedBy && waitEnds[entry.endedBy]);
      const about = [end, entry.target].filter((part) => part !== undefined).join(' ');
      const what = `waits for a ${entry.for.toLowerCase()}`;
      return [about === '' ? what : `${what}: ${about}`];
    }
    case 'batch':
      return [`batch of ${entry.runCount} ${entry.id}`];
    case 'step': {
      const { error } = entry;
      return [stepLabel(entry), ...(error ? [`${error.name ?? 'Error'}: ${error.message}`] : [])];
    }
    case 'log':
      return [`${entry.level}: ${entry.message}`];
    case 'span':
      return [
        // Names are "operation target"; the detail describes the target better, and lines are short.
        entry.detail === undefined ? entry.name : `${entry.name.split(' ', 1)[0]}: ${entry.detail}`,
        ...(entry.message === undefined ? [] : [entry.message]),
      ];
  }
}

function stepLabel(entry: Extract<TimelineEntry, { kind: 'step' }>): string {
  const about = entry.detail === undefined ? '' : `: ${entry.detail}`;
  const tries = entry.tries > 1 ? ` (${entry.tries} tries)` : '';
  const taken = entry.takenFrom === undefined ? '' : ` taken over from ${entry.takenFrom}`;
  return `step ${entry.name}${entry.status === 'FAILED' ? ' FAILED' : ''}${about}${tries}${taken}`;
}

/** On one line, without terminal control characters, and truncated. */
function cut(text: string, maxLength: number): string {
  const oneLine = escapeCell(text.replaceAll(/\s+/g, ' ').trim());
  return oneLine.length > maxLength ? `${oneLine.slice(0, maxLength - 1).toWellFormed()}…` : oneLine;
}
