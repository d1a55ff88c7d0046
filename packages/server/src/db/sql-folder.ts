import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { packageFolder } from '../package-folder.ts';

export interface SqlFile {
  readonly name: string;
  readonly text: string;
}

export interface SqlFunction extends SqlFile {
  readonly checksum: string;
}

/** The SQL of one Millrace release. */
export interface SqlRelease {
  readonly version: string;
  /** In the order of their application. */
  readonly schema: readonly SqlFile[];
  readonly functions: readonly SqlFunction[];
}

/** The folder `sql` of this package. The version is from the package.json next to it. */
export const sqlFolder = new URL('sql/', packageFolder);

/** The release whose SQL the folder contains. */
export function readVersion(folder: URL): string {
  const manifest = readFileSync(new URL('../package.json', folder), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Reads synchronously: each start does it, and promises for a hundred small files take three times as long. */
export function readSqlFolder(folder: URL): SqlRelease {
  return {
    version: readVersion(folder),
    schema: readFiles(new URL('schema/', folder)),
    functions: readFiles(new URL('functions/', folder)).map(({ name, text }) => ({
      name: basename(name, '.sql'),
      text,
      checksum: createHash('sha256').update(text).digest('hex'),
    })),
  };
}

function readFiles(folder: URL): SqlFile[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.sql'),
  );
  return paths
    .toSorted()
    .map((path) => ({ name: basename(path), text: readFileSync(new URL(path, folder), 'utf8') }));
}
