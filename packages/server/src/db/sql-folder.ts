import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
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

export async function readSqlFolder(folder: URL): Promise<SqlRelease> {
  const [manifest, schema, functions] = await Promise.all([
    readFile(new URL('../package.json', folder), 'utf8'),
    readFiles(new URL('schema/', folder)),
    readFiles(new URL('functions/', folder)),
  ]);
  const { version } = JSON.parse(manifest) as { version: string };
  return {
    version,
    schema,
    functions: functions.map(({ name, text }) => ({
      name: basename(name, '.sql'),
      text,
      checksum: createHash('sha256').update(text).digest('hex'),
    })),
  };
}

async function readFiles(folder: URL): Promise<SqlFile[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.sql'));
  return Promise.all(
    paths
      .toSorted()
      .map(async (path) => ({ name: basename(path), text: await readFile(new URL(path, folder), 'utf8') })),
  );
}
