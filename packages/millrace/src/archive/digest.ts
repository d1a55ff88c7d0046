import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Size and SHA-256 of a file. */
export async function digestOf(path: string): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  for await (const data of createReadStream(path)) hash.update(data as Buffer);
  return { size: (await stat(path)).size, sha256: hash.digest('hex') };
}
