import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { CopiedFile } from './manifest.ts';

const MAX_CHUNK = 1024 * 1024;
const MIN_CHUNK = 8 * 1024;

/** Copies a file that may change in the meantime and returns the digest of the written content. */
export async function copyFile(
  from: string,
  to: string,
  { flush }: { readonly flush: boolean },
): Promise<Omit<CopiedFile, 'path'>> {
  const source = await open(from, 'r');
  try {
    const target = await open(to, 'wx', 0o600);
    try {
      const hash = createHash('sha256');
      // Not larger than the file, because a cluster has a thousand small files, and garbage collecting a large buffer for each took a third
      // of a backup's time.
      const { size } = await source.stat();
      const buffer = Buffer.allocUnsafe(Math.min(MAX_CHUNK, Math.max(MIN_CHUNK, size)));
      let bytes = 0;
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, buffer.length, bytes);
        if (bytesRead === 0) break;
        const part = buffer.subarray(0, bytesRead);
        hash.update(part);
        await writeAll(target, part);
        bytes += bytesRead;
      }
      if (flush) await target.sync();
      return { bytes, sha256: hash.digest('hex') };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function writeAll(target: Awaited<ReturnType<typeof open>>, part: Buffer): Promise<void> {
  let written = 0;
  while (written < part.length) written += (await target.write(part, written)).bytesWritten;
}
