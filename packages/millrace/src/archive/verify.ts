import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { linesOf } from './lines.ts';
import type { ArchivedFile, ArchivePart } from './manifest.ts';
import type { ArchiveStore } from './store.ts';

/** A file of the archive differs from the one that was written. */
export class ArchiveDamaged extends Error {
  override readonly name = 'ArchiveDamaged';
}

/** Reads a file back, line by line, and rejects with ArchiveDamaged unless its digest, size and number of records match. */
export async function* verifiedLines(store: ArchiveStore, file: ArchivedFile): AsyncGenerator<string> {
  const { name, sha256, bytes, records } = file;
  const damaged = (why: string) => new ArchiveDamaged(`${store.name}: ${name} is damaged: ${why}`);
  const hash = createHash('sha256');
  let size = 0;
  const counted = async function* counted(): AsyncGenerator<Buffer> {
    for await (const data of await store.read(name)) {
      hash.update(data);
      size += data.length;
      yield data;
    }
  };
  const text = name.endsWith('.gz') ? createGunzip() : new PassThrough();
  const read = pipeline(Readable.from(counted()), text);
  // Reported below.
  read.catch(() => {});
  let count = 0;
  try {
    for await (const line of linesOf(text as AsyncIterable<Buffer>)) {
      count += 1;
      yield line;
    }
    await read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw damaged('it is not a gzip file');
    throw error;
  }
  const actual = hash.digest('hex');
  if (actual !== sha256)
    throw damaged(`its SHA-256 is ${actual} (${size} bytes), not ${sha256} (${bytes} bytes)`);
  if (count !== records) throw damaged(`it has ${count} records, not ${records}`);
}

/** The ids of the runs of a part, verified. */
export async function runsOf(store: ArchiveStore, part: ArchivePart): Promise<string[]> {
  const ids: string[] = [];
  const file = part.files.find(({ kind }) => kind === 'runs');
  if (file)
    for await (const line of verifiedLines(store, file)) ids.push((JSON.parse(line) as { id: string }).id);
  return ids;
}

/** Verifies all files of a part. */
export async function verifyPart(store: ArchiveStore, part: ArchivePart): Promise<void> {
  for (const file of part.files) {
    const lines = verifiedLines(store, file);
    while (!(await lines.next()).done);
  }
}
