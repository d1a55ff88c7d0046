import type { Transaction } from '../../db/connect.ts';
import type { Job } from '../../jobs/job.ts';
import { lockUnlessAborting } from '../bulk/abort.ts';
import type { Engine } from '../engine/engine.ts';
import type { RunFilter } from '../list/filter.ts';
import { findRuns } from '../list/find.ts';
import { idAt } from '../list/position.ts';
import { deleteRuns } from '../retention/delete-runs.ts';
import { eraseCopies } from './erase-copies.ts';
import { deleteFacets } from '../facets/delete-facets.ts';
import { eraseParts } from './erase-parts.ts';
import { eraseRuns } from './erase-runs.ts';

interface Row {
  readonly env: number;
  readonly id: string;
  readonly mode: 'ERASE' | 'DELETE';
  readonly filter: RunFilter | null;
  readonly cursor: string;
  readonly created_at: Date;
}

/** Runs of one transaction. */
const maxRuns = 500;
/** Runners may deliver the last log lines of a run this long after its end, so it is not erased earlier. */
const lateLinesMs = 60_000;
/** The maximum delay between reading a trigger, which assigns the run's id, and creating its run. */
const slackMs = 10_000;

/**
 * The job that erases runs, newest first. A tick is one transaction that erases some hundred runs and stores the position, so when a process
 * dies, another one continues.
 */
export const eraser = (engine: Engine): Job => ({
  name: 'eraser',
  everyMs: 1_000,
  async tick() {
    const now = engine.clock.now();
    const [due] = await engine.sql`
      select from erasures where status = 'PENDING' and due_at <= ${new Date(now)} limit 1`;
    if (!due) return false;
    const erased = await engine.sql.begin((tx) => eraseSome(tx, now));
    if (!erased) return false;
    engine.changes.changed(erased.env, erased.runs);
    return true;
  },
});

interface Erased {
  readonly env: number;
  readonly runs: readonly string[];
}

/** Undefined if no erasure is due, or the next one is being aborted. */
async function eraseSome(tx: Transaction, now: number): Promise<Erased | undefined> {
  const [row] = await tx<Row[]>`
    select env, id, mode, filter, cursor, created_at from erasures
     where status = 'PENDING' and due_at <= ${new Date(now)} order by due_at limit 1 for update skip locked`;
  if (!row || !(await lockUnlessAborting(tx, row.env, row.id))) return undefined;
  const { env, id, mode, created_at: requestedAt } = row;
  const { ids, next } = await nextRuns(tx, row);
  const ended = await tx<{ id: string; isYoung: boolean; isErased: boolean }[]>`
    select r.id, r.finished_at > ${new Date(requestedAt.getTime() - lateLinesMs)} as "isYoung",
           ${mode === 'ERASE'} and r.erased_at is not null as "isErased"
      from runs r where r.env = ${env} and r.id = any(${ids}::text[]) and r.finished_at <= ${requestedAt}`;
  const runs = ended.filter(({ isErased }) => !isErased).map((run) => run.id);
  const quietAt = requestedAt.getTime() + lateLinesMs;
  if (now < quietAt && ended.some(({ isYoung }) => isYoung)) {
    await tx`update erasures set due_at = ${new Date(quietAt)} where env = ${env} and id = ${id}`;
    return { env, runs: [] };
  }
  const at = new Date(now);
  if (runs.length > 0) {
    // The others go first, so that one large run does not delay them.
    const isMore = await eraseParts(tx, env, runs);
    if (isMore) {
      await tx`update erasures set due_at = ${at} where env = ${env} and id = ${id}`;
      return { env, runs: [] };
    }
    // Locked in id order, as everywhere.
    await tx`select from runs where env = ${env} and id = any(${runs}::text[]) order by id for update`;
    await eraseCopies(tx, env, runs, at);
    await deleteFacets(tx, env, runs, at);
    if (mode === 'DELETE') await deleteRuns(tx, env, runs);
    else await eraseRuns(tx, env, runs, at);
  }
  await tx`
    update erasures
       set erased = erased + ${runs.length}, skipped = skipped + ${ids.length - ended.length}, cursor = ${next ?? row.cursor},
           due_at = ${at}
     where env = ${env} and id = ${id}`;
  if (next === undefined) {
    await tx`
      update erasures set status = 'COMPLETED', filter = null, run_ids = null, completed_at = ${at}
       where env = ${env} and id = ${id}`;
  }
  return { env, runs };
}

/** The next runs of the selection, and the position after them; undefined after the last one. */
async function nextRuns(
  tx: Transaction,
  { env, id, filter, cursor }: Row,
): Promise<{ ids: readonly string[]; next: string | undefined }> {
  if (!filter) {
    const rows = await tx<{ run: string }[]>`
      select x.run from erasures e cross join lateral unnest(e.run_ids) as x (run)
       where e.env = ${env} and e.id = ${id} and x.run collate "C" < ${cursor}
       order by x.run collate "C" desc limit ${maxRuns}`;
    const ids = rows.map(({ run }) => run);
    return { ids, next: ids.length < maxRuns ? undefined : ids.at(-1) };
  }
  const { from, to } = filter;
  const found = await findRuns(
    tx,
    // JSON has no dates.
    { ...filter, envs: [env], from: from && new Date(from), to: to && new Date(to) },
    {
      low: from ? idAt(new Date(from).getTime() - slackMs) : '',
      high: cursor,
      backward: false,
      limit: maxRuns,
    },
  );
  const ids = found.runs.map((run) => run.id);
  const isAll = found.edge === undefined && ids.length < maxRuns;
  return { ids, next: isAll ? undefined : (found.edge ?? ids.at(-1)) };
}
