import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { BlobStore } from '../store/store.ts';

/** Longer than the maximum duration of an upload. */
const unusedMs = 3_600_000;
const maxAtOnce = 20;

/** Deletes objects that no blob refers to. Returns whether there may be more. */
export async function pruneObjects(sql: Sql, clock: Pick<Clock, 'now'>, store: BlobStore): Promise<boolean> {
  for (let count = 0; count < maxAtOnce; count += 1) {
    if (!(await pruneOne(sql, store, new Date(clock.now() - unusedMs)))) return false;
  }
  return true;
}

/** The row stays locked, so that no blob can start to refer to the object. After a failure in between, the deletion is repeated. */
const pruneOne = (sql: Sql, store: BlobStore, before: Date): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [object] = await tx<{ key: string }[]>`
      select key from blob_objects where not in_use and created_at < ${before}
       order by created_at limit 1 for update skip locked`;
    if (!object) return false;
    await store.delete(object.key);
    await tx`delete from blob_objects where key = ${object.key}`;
    return true;
  });
