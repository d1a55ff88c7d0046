import type { Operations, Query, Reply } from '@millrace/contract';
import type { Engine } from '../engine/engine.ts';
import { onwardPage } from '../../page.ts';
import { composeAttempts, type RunStart } from './compose.ts';
import { readAttemptRows } from './rows.ts';

const maxWaits = 1_000;

/** A page of a run's attempts. The cursor is the fence of the last one. */
export async function listAttempts(
  { sql, clock }: Engine,
  env: number,
  run: string,
  query: Query<Operations['listRunAttempts']>,
): Promise<Reply<Operations['listRunAttempts']>> {
  const size = query['page[size]'];
  const after = query['page[after]'];
  const at = new Date(clock.now());
  return sql.moment(async (tx) => {
    const [start] = await tx<RunStart[]>`
      select r.created_at, r.delayed_until, b.sealed_at, r.batch_id is not null as batch
        from runs r left join batches b on b.env = r.env and b.id = r.batch_id where r.env = ${env} and r.id = ${run}`;
    if (!start) return { data: [], pagination: {} };
    // Includes the attempt before the page, because the wait before the page's first attempt began there.
    const rows = await readAttemptRows(tx, env, [run], at, { limit: size + 2, from: after });
    const previous = rows[0]?.fence === after ? rows.shift() : undefined;
    const { page, pagination } = onwardPage(rows, size, (last) => last.fence);
    const detached = [previous, ...page].some((row) => row?.status === 'DETACHED');
    const over = detached
      ? await tx<{ over_at: Date }[]>`
          select over_at from waits where env = ${env} and run_id = ${run} and over_at is not null limit ${maxWaits}`
      : [];
    const data = composeAttempts(
      start,
      page,
      over.map((row) => row.over_at),
      previous,
    );
    return { data, pagination };
  });
}
