import { chown, link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { BackupFailed } from './errors.ts';

/** A WAL segment: 8 hex digits each for the timeline and the two parts of its number. */
export interface Segment {
  readonly timeline: number;
  readonly number: bigint;
}

const hex8 = (value: bigint): string => value.toString(16).toUpperCase().padStart(8, '0');
const perPart = (segmentBytes: number): bigint => 0x1_0000_0000n / BigInt(segmentBytes);

export function parseSegment(name: string, segmentBytes: number): Segment | undefined {
  const [, timeline, high, low] = /^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})$/.exec(name) ?? [];
  if (timeline === undefined) return undefined;
  return {
    timeline: Number.parseInt(timeline, 16),
    number: BigInt(`0x${high}`) * perPart(segmentBytes) + BigInt(`0x${low}`),
  };
}

export function segmentName({ timeline, number }: Segment, segmentBytes: number): string {
  const size = perPart(segmentBytes);
  return `${hex8(BigInt(timeline))}${hex8(number / size)}${hex8(number % size)}`;
}

/** The number of the segment that contains a position such as `0/3000148`. */
export const segmentAt = (lsn: string, segmentBytes: number): bigint => {
  const [high = '0', low = '0'] = lsn.split('/');
  return ((BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)) / BigInt(segmentBytes);
};

/** The names in an archive, without `.gz`; segments that are still being written are excluded. */
export async function archivedNames(walFolder: string): Promise<Set<string>> {
  const names = await readdir(walFolder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return new Set(names.flatMap((name) => /^([0-9A-F]{8}.*)\.gz$/.exec(name)?.[1] ?? []));
}

/** Archives a file of pg_wal, unless it is already archived. PostgreSQL may archive the same content concurrently. */
export async function archive(pgWal: string, name: string, walFolder: string): Promise<void> {
  const target = join(walFolder, `${name}.gz`);
  const draft = join(walFolder, `${name}.gz.part-${process.pid}`);
  try {
    await pipeline(
      createReadStream(join(pgWal, name)),
      createGzip({ level: constants.Z_BEST_SPEED }),
      createWriteStream(draft, { mode: 0o600, flush: true }),
    );
    // The server's user has to read it, to compare it with the segment that it archives.
    const { uid, gid } = await stat(walFolder);
    if (process.getuid?.() === 0) await chown(draft, uid, gid);
    await link(draft, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
}

const PAGE = 64 * 1024;
const zeros = Buffer.alloc(PAGE);

/** Unpacks archived WAL and verifies its checksum. Zeros, which pad segments that were archived early, become holes in the file. */
export async function unpack(walFolder: string, name: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const file = join(walFolder, `${name}.gz`);
  const target = await open(join(to, name), 'wx', 0o600);
  try {
    let size = 0;
    await pipeline(
      createReadStream(file),
      createGunzip({ chunkSize: PAGE }),
      async (unpacked: AsyncIterable<Buffer>) => {
        for await (const chunk of unpacked) {
          if (!chunk.equals(zeros.subarray(0, chunk.length)))
            await target.write(chunk, 0, chunk.length, size);
          size += chunk.length;
        }
      },
    );
    await target.truncate(size);
  } catch (error) {
    throw new BackupFailed(`The archived WAL ${file} is damaged: ${(error as Error).message}.`);
  } finally {
    await target.close();
  }
}
