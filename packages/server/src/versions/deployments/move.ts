import type { Body, Operations, Reply } from '@millrace/contract';
import type { RecordHere } from '../../audit/record.ts';
import type { Sql, Transaction } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import { lockVersions } from '../add.ts';
import { findVersion, type FoundVersion } from './find.ts';
import { readMovable, type Movable, type MoveFilter, type MovableStatus } from './movable.ts';
import { conflict } from './conflict.ts';
import { refuseUnready, type DeploymentDependencies } from './promote.ts';

export interface MoveDependencies extends Pick<DeploymentDependencies, 'sql' | 'clock'> {
  /** Called after each commit: these runs are bound to another version, and some may start. */
  readonly onMove: (env: number, runs: readonly string[]) => void;
}

type Moved = Reply<Operations['moveDeployment']>;

/** Maximum rows that one statement reads. */
const maxAtOnce = 1_000;
/** A call returns after this time and is repeated if work remains. */
export const moveMs = 10_000;
const pauseMs = 50;

/** In the order in which a run moves through them: `queued` is last, so that no run that moves in the meantime is missed. */
const waits: readonly (readonly [MovableStatus, string])[] = [
  ['DELAYED', 'delayed'],
  ['RETRYING', 'retrying'],
  ['PENDING_VERSION', 'pending_version'],
  ['WAITING', 'waiting'],
  ['QUEUED', 'queued'],
];

/**
 * Binds the waiting runs of a version to another one, in transactions of at most 1,000 runs each. Live attempts are not moved. A run is
 * either claimed on its old version or moved. If a call dies in between, the next one moves the rest.
 */
export async function moveRuns(
  dependencies: MoveDependencies,
  env: number,
  idOrVersion: string,
  { to: target, dryRun, task, status }: Body<Operations['moveDeployment']>,
  record?: RecordHere,
  options: { readonly atOnce?: number; readonly budgetMs?: number } = {},
): Promise<Moved> {
  const { sql } = dependencies;
  const filter: MoveFilter = { task, status };
  const from = await findVersion(sql, env, idOrVersion);
  const to = await findVersion(sql, env, target);
  if (from.id === to.id)
    throw unprocessable(`to: the runs are already on version ${to.version}. Choose another one.`);
  refuseUnready(to);
  const found = await readMovable(sql, env, from.id, to.id, filter);
  const summary = { from: from.version, to: to.version, ...found };
  if (dryRun) return { ...summary, moved: 0, isComplete: false };
  if (found.missingTasks.length > 0)
    throw conflict('tasks_missing', lacking(to, found), { missingTasks: found.missingTasks });
  if (found.waiting.length === 0) return { ...summary, moved: 0, isComplete: true };
  const recordOnce = once(record, from, to, found, filter);
  const done = await moveAll(dependencies, { env, from, to, filter, recordOnce, ...options });
  return { ...summary, ...done };
}

const lacking = ({ version }: FoundVersion, { missingTasks }: Movable): string =>
  `Version ${version} lacks tasks with waiting runs: ${missingTasks.map((task) => `"${task}"`).join(', ')}. Nothing was moved. Deploy a version that has them, or select the tasks to move.`;

type RecordOnce = (tx: Transaction) => Promise<void>;

/** Recorded with the first batch: the kinds of waiting runs, and their target. */
function once(
  record: RecordHere | undefined,
  from: FoundVersion,
  to: FoundVersion,
  { waiting }: Movable,
  filter: MoveFilter,
): RecordOnce {
  let isRecorded = false;
  return async (tx) => {
    if (isRecorded) return;
    await record?.(tx, {
      act: 'version.runsMoved',
      target: from.version,
      old: { version: from.version },
      new: { version: to.version, runs: waiting.reduce((sum, { count }) => sum + count, 0), ...filter },
    });
    isRecorded = true;
  };
}

interface Move {
  readonly env: number;
  readonly from: FoundVersion;
  readonly to: FoundVersion;
  readonly filter: MoveFilter;
  readonly recordOnce: RecordOnce;
  readonly atOnce?: number;
  readonly budgetMs?: number;
}

/**
 * Passes over all waiting runs until a pass has skipped none, because a row that another transaction had locked may be elsewhere by now.
 */
async function moveAll(
  dependencies: MoveDependencies,
  move: Move,
): Promise<Pick<Moved, 'moved' | 'isComplete'>> {
  const { budgetMs = moveMs, filter } = move;
  const until = performance.now() + budgetMs;
  const kinds = waits.filter(([status]) => !filter.status || filter.status.includes(status));
  let moved = 0;
  for (;;) {
    let skipped = 0;
    for (const [, wait] of kinds) {
      for (let after: Cursor | undefined = start; after;) {
        if (performance.now() > until) return { moved, isComplete: false };
        const batch: Batch = await moveBatch(dependencies, move, wait, after);
        moved += batch.moved;
        skipped += batch.skipped;
        after = batch.last;
      }
    }
    if (skipped === 0) return { moved, isComplete: true };
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

interface Cursor {
  /** Only for queued runs; numbers beyond 2^53 are strings. */
  readonly lane: string | null;
  readonly sortKey: string | null;
  readonly run: string;
}
const start: Cursor = { lane: '0', sortKey: '0', run: '' };

interface Batch {
  readonly moved: number;
  readonly skipped: number;
  /** Where the next call starts; undefined at the end. */
  readonly last: Cursor | undefined;
}

async function moveBatch(
  { sql, clock, onMove }: MoveDependencies,
  { env, from, to, filter, recordOnce, atOnce = maxAtOnce }: Move,
  wait: string,
  after: Cursor,
): Promise<Batch> {
  const { moved, skipped, lane, sortKey, run } = await inTurn(sql, env, to, async (tx) => {
    const [row] = await tx<
      {
        moved: string[];
        skipped: number;
        lane: string | null;
        sortKey: string | null;
        run: string | null;
      }[]
    >`
      select moved, skipped, lane, sort_key as "sortKey", run
        from move_runs(${env}, ${from.id}, ${to.id}, ${wait}, ${filter.task ?? null}::text[], ${after.lane}::bigint,
                       ${after.sortKey}::bigint, ${after.run}, ${new Date(clock.now())}, ${atOnce})`;
    if (!row) throw new Error('move_runs returned no row');
    if (row.moved.length > 0) await recordOnce(tx);
    return row;
  });
  if (moved.length > 0) onMove(env, moved);
  return { moved: moved.length, skipped, last: run === null ? undefined : { lane, sortKey, run } };
}

/** Prevents the target from being archived in the meantime, so that no run is bound to a version without files. */
const inTurn = <R>(sql: Sql, env: number, to: FoundVersion, act: (tx: Transaction) => Promise<R>) =>
  sql.begin(async (tx) => {
    await lockVersions(tx, env);
    refuseUnready(await findVersion(tx, env, to.version));
    return act(tx);
  });
