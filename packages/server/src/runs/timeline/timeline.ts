import type { Operations, Query, Reply } from '@millrace/contract';
import type { Engine } from '../engine/engine.ts';
import { composeTimeline } from './compose.ts';
import { readHappened, readTree, type TimelineRun } from './read.ts';

/** Maximum spans of the requested run. */
const maxSpans = 2_000;
/** Maximum lines of a child run, which is one of many. */
const maxChildLines = 5;
/** Maximum lines of all child runs. */
const maxLinesOfChildren = 500;
const maxChildSpans = 50;

/**
 * The timeline of a run, read in one snapshot. The entries of a child run are returned to callers who may read that run; other callers see
 * only that it exists, as with related runs.
 */
export async function timelineOf(
  { sql, clock }: Engine,
  env: number,
  id: string,
  query: Query<Operations['retrieveRunTimeline']>,
  mayRead: (run: TimelineRun) => boolean,
): Promise<Reply<Operations['retrieveRunTimeline']> | undefined> {
  const { depth, logs } = query;
  const after = query['page[after]'];
  const at = clock.now();
  return sql.moment(async (tx) => {
    // Everything is read by key for each run, regardless of the statistics. Otherwise, if a table has grown since ANALYZE, the planner
    // would read all of it for each run.
    await tx`
      select set_config(name, 'off', true)
        from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan']) as name`;
    const tree = await readTree(tx, env, id, { depth, size: query['page[size]'], after });
    const [first] = tree;
    if (!first) return undefined;
    const readable = tree.filter((run, index) => (index === 0 ? after === undefined : mayRead(run)));
    const ofChild = Math.min(
      logs,
      maxChildLines,
      Math.floor(maxLinesOfChildren / Math.max(1, tree.length - 1)),
    );
    const lines = new Map(readable.map((run) => [run.id, run === first ? logs : ofChild]));
    const batches = new Set(tree.slice(1).flatMap((run) => run.batch_id ?? []));
    const happened = await readHappened(
      tx,
      env,
      readable.map((run) => ({
        id: run.id,
        lines: lines.get(run.id) ?? 0,
        spans: run === first ? maxSpans : maxChildSpans,
      })),
      [...batches],
      new Date(at),
    );
    const entries = composeTimeline(tree, happened, lines, { at, withoutFirst: after !== undefined });
    const last = tree.findLast((run) => run.parent_id === id);
    return {
      at: new Date(at).toISOString(),
      entries,
      pagination: first.hasMore && last ? { next: last.id } : {},
    };
  });
}
