import type { Queryable } from '../db/connect.ts';
import { insertSealed, makeLanes } from '../runs/create/insert-sealed.ts';
import { isEverydayItem } from '../runs/create/row.ts';
import type { BatchRow, PreparedItem, Written } from './batch.ts';

/**
 * The fast path: fills a batch whose items arrive together and use no special options. One statement inserts the runs into their lanes and
 * seals the batch, all or nothing. Returns undefined without writing anything if the items do not qualify, or the batch is no longer empty
 * and open; the caller then uses the general path.
 */
export async function fillAtOnce(
  sql: Queryable,
  env: number,
  batch: BatchRow,
  items: readonly PreparedItem[],
  now: number,
): Promise<Written | undefined> {
  if (batch.received > 0 || items.length !== batch.run_count || !items.every(queuesAtOnce)) return undefined;
  const runs = items.map((item) => item.run);
  if (new Set(runs.map((run) => run.id)).size < runs.length) return undefined;
  const batchItems = { env, batch: batch.id, createdAt: batch.created_at, runs };
  const isFilled =
    (await insertSealed(sql, batchItems, now)) ||
    ((await makeLanes(sql, env, runs)) && (await insertSealed(sql, batchItems, now)));
  if (!isFilled) return undefined;
  return {
    filled: { accepted: items.length, deduplicated: 0, received: items.length, sealed: true },
    notify: ({ dispatch }) => dispatch.wake(env),
  };
}

/** A version that a client chose may be archived in the meantime, which only the general path prevents. */
const queuesAtOnce = ({ run, isOversized }: PreparedItem): boolean =>
  run.state === 'queued' &&
  !isOversized &&
  (run.pinnedVersion === 0 || run.parentId !== null) &&
  isEverydayItem(run);
