import type { Sql, Transaction } from '../../db/connect.ts';

/** Calls `act` in a transaction that is rolled back, so that every iteration of a property test begins with the same rows. */
export async function rolledBack(sql: Sql, act: (tx: Transaction) => Promise<void>): Promise<void> {
  const undo = new Error('rolled back');
  await sql
    .begin(async (tx) => {
      await act(tx);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
}

/** Inserts rows into tables in the order given. The first row of each table names its columns. */
export async function addRows(
  tx: Transaction,
  tables: Readonly<Record<string, readonly object[]>>,
): Promise<void> {
  await tx`select set_config('test.rows', ${JSON.stringify(tables)}, true)`;
  const inserts = Object.entries(tables).flatMap(([table, [first]]) => {
    if (first === undefined) return [];
    const columns = Object.keys(first).join(', ');
    return `insert into ${table} (${columns}) overriding system value
            select ${columns} from jsonb_populate_recordset(null::${table}, current_setting('test.rows')::jsonb -> '${table}')`;
  });
  await tx.unsafe(inserts.join(';'));
}
