import type { TimelineEntry } from '@millrace/contract';
import { isFinal } from '@millrace/contract';
import { composeAttempts, gapsBefore } from '../attempts/compose.ts';
import type { AttemptRow } from '../attempts/rows.ts';
import { groupBy } from '../values/group-by.ts';
import type { SpansOfRun } from '../spans/read-many.ts';
import { attemptAt, type TimelineAttempt, type Placed } from './timeline-attempt.ts';
import { fitMarks } from './marks.ts';
import {
  maxAttempts,
  maxStepsShown,
  maxWaits,
  type Happened,
  type LineRow,
  type StepRow,
  type TreeRun,
  type WaitRow,
} from './read.ts';
import { iso } from '../values/iso.ts';

/** The data of one run. */
interface RunData {
  readonly attempts: readonly AttemptRow[];
  readonly waits: readonly WaitRow[];
  readonly lines: readonly LineRow[];
  readonly steps: readonly StepRow[];
  readonly spans: SpansOfRun | undefined;
  /** The maximum number of lines. */
  readonly maxLines: number;
}

const none: never[] = [];
const placed = (entry: TimelineEntry): Placed => ({ entry, at: Date.parse(entry.startedAt) });

/** All entries of a tree, each after its parent entry, and otherwise in start order. */
export function composeTimeline(
  tree: readonly TreeRun[],
  happened: Happened,
  linesOf: ReadonlyMap<string, number>,
  { at, withoutFirst }: { readonly at: number; readonly withoutFirst: boolean },
): TimelineEntry[] {
  const attempts = groupBy(happened.attempts, (row) => row.run_id);
  const waits = groupBy(happened.waits, (row) => row.run_id);
  const lines = groupBy(happened.lines, (row) => row.run_id);
  const steps = groupBy(happened.steps, (row) => row.run_id);
  const batches = new Map(happened.batches.map((row) => [row.id, row]));
  const timelineAttempts = new Map<string, TimelineAttempt[]>();
  const entries: Placed[] = [];

  for (const [index, run] of tree.entries()) {
    const data: RunData = {
      attempts: attempts.get(run.id) ?? none,
      waits: waits.get(run.id) ?? none,
      lines: lines.get(run.id) ?? none,
      steps: steps.get(run.id) ?? none,
      spans: happened.spans.get(run.id),
      maxLines: linesOf.get(run.id) ?? 0,
    };
    const isAlone = index === 0 && withoutFirst;
    const composed = isAlone
      ? { entries: [], timelineAttempts: [] }
      : entriesOf(run, data, linesOf.has(run.id), at);
    timelineAttempts.set(run.id, composed.timelineAttempts);
    entries.push(
      placed(runEntry(run, data, index === 0 ? undefined : aboveOf(run, batches, timelineAttempts))),
      ...composed.entries,
    );
  }
  for (const batch of batches.values()) {
    const runs = tree.filter((run) => run.batch_id === batch.id);
    const parent = batch.parent_run_id ?? runs[0]?.parent_id ?? '';
    if (!timelineAttempts.has(parent)) continue;
    const startedAt = batch.created_at.getTime();
    const isOver = runs.length === batch.run_count && runs.every((run) => run.finished_at);
    entries.push(
      placed({
        kind: 'batch',
        id: batch.id,
        parentId: attemptAt(timelineAttempts.get(parent), startedAt)?.id ?? parent,
        runId: parent,
        startedAt: iso(startedAt),
        ...(isOver && { endedAt: iso(Math.max(...runs.map((run) => run.finished_at?.getTime() ?? 0))) }),
        runCount: batch.run_count,
      }),
    );
  }
  return inOrder(entries);
}

/** Its batch if that has an entry, otherwise the attempt that triggered it. */
function aboveOf(
  run: TreeRun,
  batches: ReadonlyMap<string, { readonly parent_run_id: string | null }>,
  timelineAttempts: ReadonlyMap<string, readonly TimelineAttempt[]>,
): string | undefined {
  const parent = run.parent_id ?? undefined;
  if (parent === undefined) return undefined;
  const batch = run.batch_id === null ? undefined : batches.get(run.batch_id);
  if (run.batch_id !== null && batch && timelineAttempts.has(batch.parent_run_id ?? parent))
    return run.batch_id;
  return attemptAt(timelineAttempts.get(parent), run.created_at.getTime())?.id ?? parent;
}

function runEntry(
  run: TreeRun,
  { attempts, waits, lines, steps, spans, maxLines }: RunData,
  parentId?: string,
): TimelineEntry {
  return {
    kind: 'run',
    id: run.id,
    ...(parentId !== undefined && { parentId }),
    runId: run.id,
    startedAt: run.created_at.toISOString(),
    ...(run.finished_at && { endedAt: run.finished_at.toISOString() }),
    task: run.task,
    status: run.status,
    ...(run.version !== null && { version: run.version }),
    queue: run.queue,
    ...(run.concurrency_key !== null &&
      run.concurrency_key !== '' && { concurrencyKey: run.concurrency_key }),
    ...(run.batch_id !== null && { batchId: run.batch_id }),
    attemptCount: run.attempt,
    hasMoreChildren: run.hasMore,
    isCut:
      attempts.length > maxAttempts ||
      waits.length > maxWaits ||
      lines.length > maxLines ||
      steps.length > maxStepsShown ||
      spans?.isCut === true,
  };
}

/** The entries of one run. */
function entriesOf(
  run: TreeRun,
  { attempts, waits, lines, steps, spans, maxLines }: RunData,
  isReadable: boolean,
  at: number,
): { entries: Placed[]; timelineAttempts: TimelineAttempt[] } {
  if (!isReadable) return { entries: [], timelineAttempts: [] };
  const older = attempts.length > maxAttempts ? attempts[0] : undefined;
  const recent = attempts.slice(-maxAttempts);
  const over = waits.flatMap((wait) => wait.over_at ?? []);
  const entries: Placed[] = [];
  const timelineAttempts: TimelineAttempt[] = [];
  const below = { parentId: run.id, runId: run.id };
  const waited = (
    kind: Extract<TimelineEntry, { kind: 'waiting' }>['for'],
    from: string,
    until?: string,
  ): void => {
    entries.push(
      placed({
        kind: 'waiting',
        id: `${run.id}/waiting/${entries.length}`,
        ...below,
        startedAt: from,
        ...(until !== undefined && { endedAt: until }),
        for: kind,
      }),
    );
  };

  for (const [index, row] of composeAttempts(run, recent, over, older).entries()) {
    const { waitedFor, startedAt, endedAt, retryAt: _at, retryDelayMs: _delay, ...attempt } = row;
    for (const { kind, from, until } of waitedFor) waited(kind, from, until);
    const id = `${run.id}/attempt/${index + 1 + Math.max(0, attempts.length - maxAttempts)}`;
    entries.push(
      placed({
        kind: 'attempt',
        id,
        ...below,
        startedAt,
        ...(endedAt !== undefined && { endedAt }),
        ...attempt,
      }),
    );
    timelineAttempts.push({
      id,
      number: row.number,
      status: row.status,
      from: Date.parse(startedAt),
      until: endedAt === undefined ? undefined : Date.parse(endedAt),
    });
  }
  const last = recent.at(-1);
  // No attempt is live: the run is waiting for the next one, or ended while it waited.
  if (!last || last.ended_at) {
    const end = run.finished_at?.getTime();
    const isEnded = isFinal(run.status);
    if (!isEnded || (end !== undefined && end > (last?.ended_at ?? run.created_at).getTime())) {
      for (const { kind, from, until } of gapsBefore(run, last, isEnded ? end : undefined, over))
        if (isEnded || from <= at)
          waited(kind, iso(from), until === undefined || (!isEnded && until > at) ? undefined : iso(until));
    }
  }
  for (const wait of waits.slice(0, maxWaits)) entries.push(placed(waitEntry(run, wait, timelineAttempts)));
  for (const step of steps.slice(0, maxStepsShown))
    entries.push(placed(stepEntry(run, step, timelineAttempts)));
  const bounds = { id: run.id, from: run.created_at.getTime(), now: at };
  entries.push(...fitMarks(bounds, lines.slice(-maxLines || lines.length), spans, timelineAttempts));
  return { entries, timelineAttempts };
}

function waitEntry(run: TreeRun, wait: WaitRow, timelineAttempts: readonly TimelineAttempt[]): TimelineEntry {
  const startedAt = wait.created_at.getTime();
  const attempt = attemptAt(timelineAttempts, startedAt, wait.attempt);
  // The code of a detached attempt is gone, but its wait continues.
  const isCutShort = !wait.over_at && attempt?.until !== undefined && attempt.status !== 'DETACHED';
  const endedAt = wait.over_at?.getTime() ?? (isCutShort ? attempt.until : undefined);
  return {
    kind: 'wait',
    id: `${run.id}/wait/${wait.attempt}/${wait.key}`,
    parentId: attempt?.id ?? run.id,
    runId: run.id,
    startedAt: iso(startedAt),
    ...(endedAt !== undefined && { endedAt: iso(Math.max(startedAt, endedAt)) }),
    for: wait.kind,
    ...(wait.target !== null && { target: wait.target }),
    ...(endedAt !== undefined && { endedBy: isCutShort ? 'ATTEMPT_ENDED' : endOf(wait) }),
    ...(wait.target_status !== null && { targetStatus: wait.target_status }),
  };
}

function stepEntry(run: TreeRun, step: StepRow, timelineAttempts: readonly TimelineAttempt[]): TimelineEntry {
  const isTaken = step.taken_from !== null;
  // Copied steps were executed before this run was created.
  const endedAt = isTaken ? run.created_at : step.ended_at;
  const attempt = isTaken ? undefined : attemptAt(timelineAttempts, step.ended_at.getTime(), step.attempt);
  const startedAt = isTaken ? endedAt : new Date(Math.max(step.started_at.getTime(), attempt?.from ?? 0));
  return {
    kind: 'step',
    id: `${run.id}/step/${step.name}`,
    parentId: attempt?.id ?? run.id,
    runId: run.id,
    startedAt: startedAt.toISOString(),
    endedAt: new Date(Math.max(startedAt.getTime(), endedAt.getTime())).toISOString(),
    name: step.name,
    stepKind: step.kind,
    status: step.status,
    tries: step.tries,
    ...(step.detail !== null && { detail: step.detail }),
    ...(step.error && { error: { message: '', ...step.error } }),
    ...(step.taken_from !== null && { takenFrom: step.taken_from }),
  };
}

function endOf({ kind, over_at, due, timed_out }: WaitRow) {
  switch (kind) {
    case 'RUN':
      return 'RUN_ENDED';
    case 'BATCH':
      return 'BATCH_ENDED';
    case 'TOKEN':
      return timed_out === true ? 'TOKEN_TIMED_OUT' : 'TOKEN_COMPLETED';
    case 'TIME':
      return 'TIME_REACHED';
    case 'MESSAGE':
      return due && over_at && over_at >= due ? 'MESSAGE_TIMED_OUT' : 'MESSAGE_CAME';
  }
}

/** The order of entries that start together. */
const ranks: Readonly<Record<TimelineEntry['kind'], number>> = {
  waiting: 0,
  attempt: 1,
  run: 2,
  batch: 2,
  wait: 3,
  step: 3,
  span: 4,
  log: 5,
};

/** Depth first. */
function inOrder(entries: readonly Placed[]): TimelineEntry[] {
  const below = groupBy(entries, ({ entry }) => entry.parentId);
  const ordered: TimelineEntry[] = [];
  const visit = (list: readonly Placed[]): void => {
    const sorted = list.toSorted((a, b) => a.at - b.at || ranks[a.entry.kind] - ranks[b.entry.kind]);
    for (const { entry } of sorted) {
      ordered.push(entry);
      const inside = below.get(entry.id);
      if (inside) visit(inside);
    }
  };
  visit(below.get(undefined) ?? []);
  return ordered;
}
