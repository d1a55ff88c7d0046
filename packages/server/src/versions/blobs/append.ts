import { maxPieceBytes } from '@millrace/contract/runner';
import type { Sql } from '../../db/connect.ts';

export interface BlobProgress {
  readonly size: number;
  readonly received: number;
}

export interface BlobKey {
  readonly project: number;
  readonly blob: string;
}

/** Undefined if the project has no such blob. */
export async function blobProgress(sql: Sql, { project, blob }: BlobKey): Promise<BlobProgress | undefined> {
  const [row] = await sql<{ size: string; received: string }[]>`
    select size, received from blobs where project_id = ${project} and digest = ${blob}`;
  return row && { size: Number(row.size), received: Number(row.received) };
}

/**
 * Stores bytes that begin at `start`, except those already stored. Returns the resulting number of bytes of the blob; undefined if it is
 * gone. If several uploaders send the same piece, the first one stores it and the others skip it.
 */
export async function appendToBlob(
  sql: Sql,
  key: BlobKey,
  start: number,
  bytes: Buffer,
): Promise<BlobProgress | undefined> {
  let at = start;
  let rest = bytes;
  for (;;) {
    if (rest.length > 0) {
      const { count } = await sql`
        with grown as (
          update blobs set received = received + ${rest.length}
           where project_id = ${key.project} and digest = ${key.blob} and received = ${at} and received + ${rest.length} <= size
          returning 1
        )
        insert into blob_pieces (project_id, blob, start, data)
        select ${key.project}, ${key.blob}, ${at}, ${rest} from grown`;
      if (count > 0) {
        at += rest.length;
        rest = rest.subarray(rest.length);
      }
    }
    const now = await blobProgress(sql, key);
    if (!now || now.received <= at || rest.length === 0) return now;
    // Another uploader stored some of it.
    const skipped = now.received - at;
    if (skipped >= rest.length) return now;
    rest = rest.subarray(skipped);
    at += skipped;
  }
}

/** Splits bytes into pieces for storage. */
export async function* piecesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    let rest = part;
    while (bytes + rest.length >= maxPieceBytes) {
      const room = maxPieceBytes - bytes;
      yield Buffer.concat([...parts, rest.subarray(0, room)]);
      rest = rest.subarray(room);
      parts = [];
      bytes = 0;
    }
    if (rest.length > 0) parts.push(rest);
    bytes += rest.length;
  }
  if (bytes > 0) yield Buffer.concat(parts);
}
