import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';

const unusedMs = 3_600_000;
const maxAtOnce = 20;

/** Deletes blobs that no deployment has needed for an hour. Returns whether there may be more. */
export async function pruneBlobs(sql: Sql, clock: Pick<Clock, 'now'>): Promise<boolean> {
  // If a deployment requests one in the meantime, its time changes and it is not deleted.
  const { count } = await sql`
    delete from blobs b using (
      select x.project_id, x.digest from blobs x
       where x.used_at < ${new Date(clock.now() - unusedMs)}
         and not exists (select from version_blobs r where r.project_id = x.project_id and r.blob = x.digest)
       order by x.used_at limit ${maxAtOnce} for update skip locked) u
     where b.project_id = u.project_id and b.digest = u.digest`;
  return count >= maxAtOnce;
}
