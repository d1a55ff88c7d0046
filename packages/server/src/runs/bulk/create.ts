import { parsePeriodMs, type BulkFilter, type Body, type Operations } from '@millrace/contract';
import type { RecordHere } from '../../audit/record.ts';
import { newTimedId } from '../../db/ids.ts';
import { isStorable } from '../../db/storable.ts';
import { Problem } from '../../problem.ts';
import type { Engine } from '../engine/engine.ts';
import { idAt } from '../list/position.ts';
import { readFilter, type ListRunsQuery } from '../list/read-filter.ts';

export const maxPending = 50;

/** Stores a bulk action for a background job. An action whose filter cannot match ends immediately. */
export async function createBulkAction(
  { sql, clock }: Pick<Engine, 'sql' | 'clock'>,
  env: number,
  { action, filter, runIds, name }: Body<Operations['createBulkAction']>,
  record?: RecordHere,
): Promise<string> {
  const [pending] = await sql<{ count: number }[]>`
    select count(*)::int as count from bulk_actions where env = ${env} and status = 'PENDING'`;
  if ((pending?.count ?? 0) >= maxPending) {
    const message = `${maxPending} bulk actions are in progress in this environment. Wait for one to end, or abort one.`;
    throw new Problem('rate_limited', message, {}, false);
  }
  const now = clock.now();
  const at = new Date(now);
  const id = newTimedId('bulk', now);
  // Dates and ids are resolved now, so that a period counts from the request, regardless of how long the action takes.
  const found = filter && (await readFilter(sql, [env], queryOf(filter), now));
  const ids = [...new Set(runIds ?? [])].filter(isStorable);
  const isOver = filter ? found === undefined : ids.length === 0;
  const total = ids.length;
  const type = action === 'cancel' ? 'CANCEL' : 'REPLAY';
  await sql.begin(async (tx) => {
    await tx`
    with action as (
      insert into bulk_actions (env, id, type, name, status, filter, cursor, total, created_at, worked_at, completed_at)
      values (${env}, ${id}, ${type}, ${name?.replaceAll('\0', '') ?? null},
              ${isOver ? 'COMPLETED' : 'PENDING'}, ${found ? JSON.stringify(found) : null}::text::jsonb, ${idAt(now)}, ${total},
              ${at}, ${at}, ${isOver ? at : null}::timestamptz)
    )
    insert into bulk_runs (env, bulk_id, run_id) select ${env}::int, ${id}, r from unnest(${ids}::text[]) as r`;
    await record?.(tx, { act: 'bulkAction.created', target: id, new: { type, name, filter, runs: total } });
  });
  return id;
}

/** Lists of runs cover the last seven days without a range; data to be erased or archived may be older. */
export function queryOfAnyAge(filter: BulkFilter): ListRunsQuery {
  const { from, to, period } = filter;
  return queryOf(
    from === undefined && to === undefined && period === undefined
      ? { ...filter, from: new Date(0) }
      : filter,
  );
}

/** Converts the filter to a list query. */
function queryOf({ queue, from, to, period, isTest, ...same }: BulkFilter): ListRunsQuery {
  return {
    'page[size]': 1,
    'filter[status]': same.status,
    'filter[taskIdentifier]': same.taskIdentifier,
    'filter[version]': same.version,
    'filter[tag]': same.tag,
    'filter[queue]': queue?.map(({ type, name }) => (type === 'task' ? `task/${name}` : name)),
    'filter[machine]': same.machine,
    'filter[region]': same.region,
    'filter[isTest]': isTest === undefined ? undefined : isTest ? 'true' : 'false',
    'filter[schedule]': same.schedule,
    'filter[batch]': same.batch,
    'filter[bulkAction]': same.bulkAction,
    'filter[error]': same.error,
    'filter[errorText]': same.errorText,
    'filter[metadata]': same.metadata,
    'filter[payload]': same.payload,
    'filter[createdAt][from]': from,
    'filter[createdAt][to]': to,
    'filter[createdAt][period]': period === undefined ? undefined : parsePeriodMs(period),
  };
}
