import type { Queryable } from '../db/connect.ts';

/** Serializes changes to the rules or prices of one project. Returns the id of the project; undefined if there is none. */
export async function lockProject(sql: Queryable, projectRef: string): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    select id from projects where ref = ${projectRef} for no key update`;
  return row?.id;
}
