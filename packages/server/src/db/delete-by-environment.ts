import type { Fragment, Queryable } from './connect.ts';

export interface Deletion {
  readonly table: Fragment;
  /** Matches the rows `x` to delete. */
  readonly condition: Fragment;
  /** The column by which an index of the table sorts the rows of an environment. */
  readonly orderBy: Fragment;
  /** Maximum number of rows. */
  readonly limit: number;
}

/** Deletes rows of a table whose indexes begin with the environment, which is read one after the other. Returns whether there may be more. */
export async function deleteByEnvironment(
  sql: Queryable,
  { table, condition, orderBy, limit }: Deletion,
): Promise<boolean> {
  const { count } = await sql`
    delete from ${table} where ctid = any(array(
      select v.row_id from environments e
       cross join lateral (
         select x.ctid as row_id from ${table} x
          where x.env = e.id and ${condition} order by ${orderBy} limit ${limit}) v
       limit ${limit}))`;
  return count >= limit;
}
