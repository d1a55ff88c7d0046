import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { BundleFile } from '@millrace/contract/runner';
import { codeOf, Damaged } from './errors.ts';

export type Content = Pick<BundleFile, 'digest' | 'size' | 'blob' | 'blobSize'>;

/** Decompresses a blob into a sink. Throws Damaged, possibly after everything is written, if it or its content is not as declared. */
export async function save(
  blob: AsyncIterable<Uint8Array>,
  declared: Content,
  what: string,
  sink: Writable,
): Promise<void> {
  const ofBlob = createHash('sha256');
  const ofContent = createHash('sha256');
  let blobSize = 0;
  let size = 0;
  const limited = (max: number, is: number): void => {
    if (is > max) throw new Damaged(`${what} is larger than declared`);
  };
  try {
    await pipeline(
      blob,
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          limited(declared.blobSize, (blobSize += chunk.length));
          ofBlob.update(chunk);
          yield chunk;
        }
      },
      createGunzip(),
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          limited(declared.size, (size += chunk.length));
          ofContent.update(chunk);
          yield chunk;
        }
      },
      sink,
    );
  } catch (error) {
    if (codeOf(error)?.startsWith('Z_')) throw new Damaged(`${what} cannot be decompressed`);
    throw error;
  }
  if (
    size !== declared.size ||
    ofBlob.digest('hex') !== declared.blob ||
    ofContent.digest('hex') !== declared.digest
  ) {
    throw new Damaged(`${what} does not match its declared digest`);
  }
}
