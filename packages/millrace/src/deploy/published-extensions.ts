import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { glob } from 'tinyglobby';
import type { Output } from '../bundle/build.ts';
import { makeFolder } from '../make-folder.ts';
import type { Project } from '../project/load.ts';
import { ProjectError } from '../project/problem.ts';
import {
  completeExtensions,
  startExtensions,
  type ExtensionTarget,
  type SyncedVariables,
} from '../published/project/extensions.ts';
import { isDotenv } from './secret-values.ts';

/** What the extensions of a `trigger.config.ts` add to a deployment. */
export interface PublishedAdditions {
  /** The project, with the packages that they add. */
  readonly project: Project;
  readonly files: readonly Output[];
  /** To be set in the environment. */
  readonly variables: readonly SyncedVariables[];
}

/** `target` is asked for only if there are extensions. */
export async function publishedAdditions(
  project: Project,
  target: () => Promise<ExtensionTarget>,
): Promise<PublishedAdditions> {
  const { dir, published, build } = project;
  if (!published || published.config.extensions.list.length === 0)
    return { project, files: [], variables: [] };
  const { extensions } = published.config;
  const parent = join(dir, '.millrace');
  await makeFolder(parent);
  const folder = await mkdtemp(join(parent, 'extensions-'));
  try {
    const started = await startExtensions(extensions, dir, 'deploy');
    const completed = await completeExtensions(extensions, dir, folder, await target());
    const packages = [...new Set([...started.packages, ...completed.packages])];
    const added = packages.length === 0 ? [] : [{ name: 'trigger.config', packages }];
    return {
      project: { ...project, build: { ...build, extensions: [...build.extensions, ...added] } },
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

async function filesIn(folder: string): Promise<Output[]> {
  const paths = await glob(['**'], { cwd: folder, dot: true, followSymbolicLinks: false });
  const secret = paths.find((path) => isDotenv(path));
  if (secret !== undefined)
    throw new Error(`an extension would put ${secret} into the bundle: such files have secrets`);
  return Promise.all(paths.map(async (path) => ({ path, contents: await readFile(join(folder, path)) })));
}
