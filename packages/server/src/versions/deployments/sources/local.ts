import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../../auth/principal.ts';

/** The build of a version that a runner on this machine registered from a folder. */
export interface LocalBuild {
  /** Absolute. */
  readonly dir: string;
  /** The folder that its source paths are relative to; `dir` is below it. */
  readonly projectDir: string;
}

/** Finds such builds, where the server and the runner are one process, as in `millrace dev`. */
export type FindLocalBuild = (
  environment: Pick<Environment, 'projectRef' | 'publicId'>,
  version: string,
) => Promise<LocalBuild | undefined>;

/** Its source maps, with paths relative to the build. Empty if the build was removed meanwhile. */
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

/** Empty if the build was removed meanwhile. */
export const readLocalMap = (dir: string, path: string): Promise<string> =>
  readFile(join(dir, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
