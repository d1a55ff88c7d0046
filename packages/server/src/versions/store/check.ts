import type { Sql } from '../../db/connect.ts';
import { StoreFailed, StoreRefused, type BlobStore } from './store.ts';

/**
 * Rejects with a StoreRefused if deployment files are in a store and none is configured. Calls `onLacking` with the key of a file that the
 * store lacks: in that case, the store may have been replaced, or the database may be older than the store.
 */
export async function checkStoredBlobs(
  sql: Sql,
  store: BlobStore | undefined,
  onLacking: (key: string) => void,
): Promise<void> {
  const [stored] = await sql<{ key: string }[]>`
    select object_key as key from blobs where object_key is not null limit 1`;
  if (!stored) return;
  if (!store)
    throw new StoreRefused(
      'Deployment files are in an S3-compatible store, but MILLRACE_BUNDLE_STORE is not set. Set it to that store.',
    );
  const isThere = await store.has(stored.key).catch((error: unknown) => {
    // Already reported.
    if (error instanceof StoreFailed) return true;
    throw error;
  });
  if (!isThere) onLacking(stored.key);
}
