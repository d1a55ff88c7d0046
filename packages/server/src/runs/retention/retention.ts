import type { Body, Operations, RunRetention } from '@millrace/contract';
import type { RecordHere } from '../../audit/record.ts';
import type { Queryable, Sql } from '../../db/connect.ts';

/** Days that an environment retains its finished runs, by class of status; null uses the next more general setting. */
export async function readRetention(sql: Queryable, env: number, lock = sql``): Promise<RunRetention> {
  const [row] = await sql<RunRetention[]>`
    select run_retention_days as "runsDays", completed_retention_days as "completedDays",
           failed_retention_days as "failedDays", canceled_retention_days as "canceledDays"
      from environments where id = ${env} ${lock}`;
  return row ?? { runsDays: null, completedDays: null, failedDays: null, canceledDays: null };
}

/** Changes the settings that are given, and returns all of them. */
export async function updateRetention(
  sql: Sql,
  { id, publicId }: { readonly id: number; readonly publicId: string },
  changes: Body<Operations['updateRetention']>,
  record: RecordHere,
): Promise<RunRetention> {
  return sql.begin(async (tx) => {
    const old = await readRetention(tx, id, tx`for update`);
    const { runsDays, completedDays, failedDays, canceledDays } = changes;
    const changed: RunRetention = {
      runsDays: runsDays === undefined ? old.runsDays : runsDays,
      completedDays: completedDays === undefined ? old.completedDays : completedDays,
      failedDays: failedDays === undefined ? old.failedDays : failedDays,
      canceledDays: canceledDays === undefined ? old.canceledDays : canceledDays,
    };
    if (JSON.stringify(changed) === JSON.stringify(old)) return old;
    await tx`
      update environments
         set run_retention_days = ${changed.runsDays}, completed_retention_days = ${changed.completedDays},
             failed_retention_days = ${changed.failedDays}, canceled_retention_days = ${changed.canceledDays}
       where id = ${id}`;
    await record(tx, { act: 'retention.updated', target: publicId, old: { ...old }, new: { ...changed } });
    return changed;
  });
}
