import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../../auth/principal.ts';

/** The build of a version that a runner on this machine registered from a folder. */
export interface LocalBuild {
  /** The absolute path of the build. */
  readonly dir: string;
  /** The folder that its source paths are relative to; `dir` is below it. */
  readonly projectDir: string;
}

/** Finds local builds when the server and the runner are one process, as in `millrace dev`. */
export type FindLocalBuild = (
  environment: Pick<Environment, 'projectRef' | 'publicId'>,
  version: string,
) => Promise<LocalBuild | undefined>;

/** The source maps of a build, with paths relative to it. Empty if the build has been removed. */
export async function localMaps(dir: string): Promise<{ readonly path: string; readonly size: number }[]> {
  const names = await readdir(dir, { recursive: true }).catch(() => []);
  const maps = names.filter((name) => /\.[cm]?js\.map$/.test(name));
  return Promise.all(
    maps.map(async (name) => ({
      path: name.replaceAll('\\', '/'),
      size: (await stat(join(dir, name))).size,
    })),
  );
}

/** The text of a source map. Empty if the build has been removed. */
export const readLocalMap = (dir: string, path: string): Promise<string> =>
  readFile(join(dir, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
