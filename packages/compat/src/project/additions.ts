import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@millrace/platform';
import { ProjectError } from '@millrace/diagnostics';
import { glob } from 'tinyglobby';
import {
  completeExtensions,
  startExtensions,
  type ExtensionTarget,
  type SyncedVariables,
} from './extensions.ts';
import type { ProjectWithPublished } from './plugins.ts';

export interface AddedFile {
  /** Relative to the bundle. */
  readonly path: string;
  readonly contents: Uint8Array;
}

/** The additions of the extensions of a `trigger.config.ts` to a deployment. */
export interface PublishedAdditions {
  /** Packages that are installed with it. */
  readonly packages: readonly string[];
  readonly files: readonly AddedFile[];
  /** Variables to set in the environment. */
  readonly variables: readonly SyncedVariables[];
}

/** `target` is only called if there are extensions. */
export async function publishedAdditions(
  { dir, published }: ProjectWithPublished,
  target: () => Promise<ExtensionTarget>,
): Promise<PublishedAdditions> {
  if (!published || published.config.extensions.list.length === 0)
    return { packages: [], files: [], variables: [] };
  const { extensions } = published.config;
  const parent = join(dir, '.millrace');
  await makeFolder(parent);
  const folder = await mkdtemp(join(parent, 'extensions-'));
  try {
    const started = await startExtensions(extensions, dir, 'deploy');
    const completed = await completeExtensions(extensions, dir, folder, await target());
    return {
      packages: [...new Set([...started.packages, ...completed.packages])],
      files: await filesIn(folder),
      variables: completed.variables,
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ProjectError({
      file: published.file ?? 'trigger.config.ts',
      line: null,
      column: null,
      message,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function filesIn(folder: string): Promise<AddedFile[]> {
  const paths = await glob(['**'], { cwd: folder, dot: true, followSymbolicLinks: false });
  return Promise.all(paths.map(async (path) => ({ path, contents: await readFile(join(folder, path)) })));
}
