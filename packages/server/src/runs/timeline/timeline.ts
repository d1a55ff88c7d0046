import type { Operations, Query, Reply } from '@millrace/contract';
import type { Engine } from '../engine.ts';
import { composeTimeline } from './compose.ts';
import { readHappened, readTree, type TimelineRun } from './read.ts';

/** Of the run that was asked for. */
const maxSpans = 2_000;
/** Of a child run, which is one of many. */
const maxChildLines = 20;
const maxChildSpans = 50;

/**
 * The timeline of a run, read in one snapshot. What happened in a child run is told to callers who may read that run; others see that it is there,
 * as with the related runs of a run.
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
    const tree = await readTree(tx, env, id, { depth, size: query['page[size]'], after });
    const [first] = tree;
    if (!first) return undefined;
    const readable = tree.filter((run, index) => (index === 0 ? after === undefined : mayRead(run)));
    const lines = new Map(
      readable.map((run) => [run.id, run === first ? logs : Math.min(logs, maxChildLines)]),
    );
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
