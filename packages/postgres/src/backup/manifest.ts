import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupFailed } from './errors.ts';

export interface CopiedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The contents of a base backup, in manifest.json next to it. Times are from the database's clock. */
export interface Manifest {
  readonly format: 1;
  readonly name: string;
  readonly startedAt: string;
  /** The earliest moment to which this backup can be restored. */
  readonly endedAt: string;
  readonly millrace: string;
  readonly postgres: string;
  readonly systemId: string;
  readonly timeline: number;
  readonly segmentBytes: number;
  /** The first and the last WAL segment required to make the copied files consistent. */
  readonly startWal: string;
  readonly endWal: string;
  /** The position at which the copied files are consistent. */
  readonly endLsn: string;
  readonly bytes: number;
  /** Folders, including empty ones, because PostgreSQL needs them and some programs do not copy them. */
  readonly folders: readonly string[];
  readonly files: readonly CopiedFile[];
}

const NAME = 'manifest.json';
const DIGEST = 'manifest.json.sha256';

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Writes the manifest of a base backup, with its digest next to it in a format that `sha256sum --check` understands. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const text = `${JSON.stringify(manifest, undefined, 1)}\n`;
  const options = { mode: 0o600, flush: true };
  await writeFile(join(folder, NAME), text, options);
  await writeFile(join(folder, DIGEST), `${digestOf(text)}  ${NAME}\n`, options);
}

/** Reads the manifest of a base backup. Throws if it is damaged. */
export async function readManifest(folder: string): Promise<Manifest> {
  const damaged = (why: string): BackupFailed =>
    new BackupFailed(`The backup ${folder} is damaged: ${why}. Use another one.`);
  const text = await readFile(join(folder, NAME), 'utf8').catch((error: Error) => {
    throw damaged(error.message);
  });
  const digest = await readFile(join(folder, DIGEST), 'utf8').catch((error: Error) => {
    throw damaged(error.message);
  });
  if (digest.slice(0, 64) !== digestOf(text)) throw damaged(`the digest of ${NAME} does not match`);
  const manifest = JSON.parse(text) as Manifest;
  if (Number(manifest.format) !== 1) {
    throw new BackupFailed(
      `The backup ${folder} was made by a newer Millrace. Restore it with that version.`,
    );
  }
  // The digest proves that the text is complete, but not that Millrace wrote it.
  const wrong = [...manifest.folders, ...manifest.files.map(({ path }) => path)].find(
    (path) => path.startsWith('/') || path.split('/').includes('..'),
  );
  if (wrong !== undefined) throw damaged(`it contains the invalid path ${wrong}`);
  return manifest;
}
