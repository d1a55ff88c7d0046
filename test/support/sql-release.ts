import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';

const server = new URL('../../packages/server/', import.meta.url);

export interface SqlReleaseOptions {
  /** Default: the current release. */
  readonly version?: string;
  /** Schema files to add. */
  readonly schema?: Readonly<Record<string, string>>;
  /** Changes of functions, by `<concept>/<name>`: from the current text, or from nothing for a new one. An empty text removes one. */
  readonly functions?: Readonly<Record<string, (text: string) => string>>;
}

/** The `sql` folder of another release, for `migrate`; removed when the test ends. */
export async function sqlRelease({ version, schema, functions }: SqlReleaseOptions = {}): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-sql-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(new URL('sql', server), join(folder, 'sql'), { recursive: true });
  const manifest = JSON.parse(await readFile(new URL('package.json', server), 'utf8')) as { version: string };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ version: version ?? manifest.version }));
  for (const [name, text] of Object.entries(schema ?? {}))
    await writeFile(join(folder, 'sql/schema', name), text);
  for (const [name, change] of Object.entries(functions ?? {})) {
    const path = join(folder, 'sql/functions', `${name}.sql`);
    const text = change(await readFile(path, 'utf8').catch(() => ''));
    await (text === '' ? rm(path) : writeFile(path, text));
  }
  return pathToFileURL(join(folder, 'sql/'));
}
