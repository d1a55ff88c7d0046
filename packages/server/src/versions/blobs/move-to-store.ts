import { randomBytes } from 'node:crypto';
import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { BlobStore } from '../store/store.ts';
import type { BlobKey } from './append.ts';
import { BlobGone, readBlob } from './read.ts';

/**
 * Moves a verified blob from the database into the store. Several processes may do so at the same time; the blob then refers to the first
 * finished object. The other objects are deleted later, like the object of a process that dies in between.
 */
export async function moveToStore(
  sql: Sql,
  clock: Pick<Clock, 'now'>,
  store: BlobStore,
  { project, blob }: BlobKey,
): Promise<void> {
  const [row] = await sql<{ size: string }[]>`
    select size from blobs where project_id = ${project} and digest = ${blob} and content_digest is not null and object_key is null`;
  if (!row) return;
  const size = Number(row.size);
  const key = `${project}/${blob}.${randomBytes(8).toString('hex')}`;
  await sql`insert into blob_objects (key, created_at) values (${key}, ${new Date(clock.now())})`;
  try {
    await store.put(key, size, blob, readBlob(sql, { project, blob }, size));
  } catch (error) {
    // Another process has moved or deleted it in the meantime.
    if (error instanceof BlobGone) return;
    throw error;
  }
  const isOurs = await sql.begin(async (tx) => {
    // After a clock jump, the job may have considered the object abandoned.
    const [still] = await tx`select from blob_objects where key = ${key} for update`;
    if (!still) return false;
    const { count } = await tx`
      update blobs set object_key = ${key}
       where project_id = ${project} and digest = ${blob} and content_digest is not null and object_key is null`;
    if (count === 0) return true;
    await tx`update blob_objects set in_use = true where key = ${key}`;
    await tx`delete from blob_pieces where project_id = ${project} and blob = ${blob}`;
    return true;
  });
  // It may have been uploaded after the deletion.
  if (!isOurs) await store.delete(key);
}
