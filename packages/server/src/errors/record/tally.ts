import type { Queryable } from '../../db/connect.ts';

/**
 * Counts the failures of an environment that arrived since the last tally: groups are created, grow and reopen. Every read or change of
 * groups does this first, so groups are up to date even if the background job does not run.
 */
export async function tally(sql: Queryable, env: number): Promise<void> {
  for (;;) {
    const [row] = await sql<{ more: boolean }[]>`select tally_errors(${env}) as more`;
    if (!row?.more) return;
  }
}

/** The background job that does the same in every environment with arrivals. */
export async function tallyEverywhere(sql: Queryable): Promise<boolean> {
  const rows = await sql<{ more: boolean }[]>`
    with recursive found as (
      (select env from error_arrivals order by env limit 1)
      union all
      select (select a.env from error_arrivals a where a.env > f.env order by a.env limit 1) from found f where f.env is not null
    )
    select tally_errors(env) as more from found where env is not null`;
  return rows.some((row) => row.more);
}
