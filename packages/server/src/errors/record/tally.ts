import type { Queryable } from '../../db/connect.ts';

/**
 * Counts the failures of an environment that arrived since somebody last did: groups begin, grow and reopen by it. Whoever reads
 * or changes groups does this first, so they are as of now whether the background jobs run or not.
 */
export async function tally(sql: Queryable, env: number): Promise<void> {
  for (;;) {
    const [row] = await sql<{ more: boolean }[]>`select tally_errors(${env}) as more`;
    if (!row?.more) return;
  }
}

/** The same in every environment where something arrived: a background job. */
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
