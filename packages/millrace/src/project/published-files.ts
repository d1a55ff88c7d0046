import { glob } from 'tinyglobby';
import type { PublishedProject } from './read-published.ts';

const init = /^init\.(?:[cm]?[jt]s)$/;

/** An `init` file directly in a task folder: the published SDK imports it in every process. `taskDirs` are relative to the project. */
export const isPreload = (path: string, taskDirs: readonly string[]): boolean =>
  taskDirs.some((taskDir) => {
    const prefix = taskDir === '' ? '' : `${taskDir}/`;
    return path.startsWith(prefix) && init.test(path.slice(prefix.length));
  });

/** The files that `ignorePatterns` of the configuration leaves out, relative to the project. */
export async function ignoredFiles(
  projectDir: string,
  { config: { ignorePatterns } }: PublishedProject,
): Promise<ReadonlySet<string>> {
  if (ignorePatterns.length === 0) return new Set();
  return new Set(await glob([...ignorePatterns], { cwd: projectDir, ignore: ['**/node_modules/**'] }));
}
