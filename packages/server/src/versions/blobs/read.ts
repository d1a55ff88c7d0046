import type { Queryable } from '../../db/connect.ts';
import type { BlobKey } from './append.ts';

/** Thrown if a blob's pieces were deleted while they were read: it was moved to the store, or is no longer needed. */
export class BlobGone extends Error {
  override name = 'BlobGone';
}

/** The bytes of a complete blob starting at `start`, read lazily, piece by piece. */
export async function* readBlob(
  sql: Queryable,
  { project, blob }: BlobKey,
  size: number,
  start = 0,
): AsyncGenerator<Buffer> {
  for (let at = start; at < size;) {
    const [piece] = await sql<{ start: string; data: Buffer }[]>`
      select start, data from blob_pieces
       where project_id = ${project} and blob = ${blob} and start <= ${at} order by start desc limit 1`;
    const bytes = piece?.data.subarray(at - Number(piece.start));
    if (!bytes || bytes.length === 0) throw new BlobGone('A blob was deleted while it was read.');
    at += bytes.length;
    yield bytes;
  }
}
