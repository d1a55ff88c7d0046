import type { RecordHere } from '../../audit/record.ts';
import type { Queryable, Sql } from '../../db/connect.ts';

/** Days that an environment retains its finished runs; null uses the server's setting. */
export async function retentionDays(sql: Queryable, env: number): Promise<number | null> {
  const [row] = await sql<{ days: number | null }[]>`
    select run_retention_days as days from environments where id = ${env}`;
  return row?.days ?? null;
}

export async function keepRunsFor(
  sql: Sql,
  { id, publicId }: { readonly id: number; readonly publicId: string },
  runsDays: number | null,
  record: RecordHere,
): Promise<void> {
  await sql.begin(async (tx) => {
    const [old] = await tx<{ runsDays: number | null }[]>`
      select run_retention_days as "runsDays" from environments where id = ${id} for update`;
    if (!old || old.runsDays === runsDays) return;
    await tx`update environments set run_retention_days = ${runsDays} where id = ${id}`;
    await record(tx, { act: 'retention.updated', target: publicId, old, new: { runsDays } });
  });
}
