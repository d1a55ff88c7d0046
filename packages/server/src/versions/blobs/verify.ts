import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Sql } from '../../db/connect.ts';
import type { BlobKey } from './append.ts';
import { readBlob } from './read.ts';

/** The expected properties of a blob. */
export interface Expected {
  readonly digest: string;
  readonly size: number;
}

/**
 * Reads a complete blob once, unpacks it, and compares both digests, without unpacking more than the declared size. Returns the error, if
 * any. A correct blob is marked as verified.
 */
export async function verifyBlob(
  sql: Sql,
  key: BlobKey,
  blobSize: number,
  { digest, size }: Expected,
): Promise<string | undefined> {
  const packed = createHash('sha256');
  const content = createHash('sha256');
  let bytes = 0;
  const source = Readable.from(hashed(readBlob(sql, key, blobSize), packed));
  try {
    await pipeline(source, createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
      for await (const part of unpacked) {
        bytes += part.length;
        if (bytes > size) throw new RangeError('too long');
        content.update(part);
      }
    });
  } catch (error) {
    // Checked by size: the pipeline may report an aborted stream instead of the error above.
    if (bytes > size) return `it unpacks to more than the declared ${size} bytes`;
    if (isZlibError(error)) return 'it is not compressed with gzip, or is cut off';
    throw error;
  }
  if (packed.digest('hex') !== key.blob) return 'the uploaded data does not match the digest of the blob';
  if (bytes !== size) return `it unpacks to ${bytes} bytes, but ${size} were declared`;
  if (content.digest('hex') !== digest) return 'its content does not match the declared digest';
  await sql`
    update blobs set content_digest = ${digest}, content_size = ${size}
     where project_id = ${key.project} and digest = ${key.blob} and content_digest is null and received = size`;
  return undefined;
}

async function* hashed(
  parts: AsyncIterable<Buffer>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Buffer> {
  for await (const part of parts) {
    hash.update(part);
    yield part;
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
