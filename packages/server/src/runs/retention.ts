import type { Queryable } from '../db/connect.ts';

/** Days that an environment keeps its finished runs; null is what the server is set to. */
export async function keptDays(sql: Queryable, env: number): Promise<number | null> {
  const [row] = await sql<{ days: number | null }[]>`
    select run_retention_days as days from environments where id = ${env}`;
  return row?.days ?? null;
}

export async function keepRunsFor(sql: Queryable, env: number, days: number | null): Promise<void> {
  await sql`update environments set run_retention_days = ${days} where id = ${env}`;
}
