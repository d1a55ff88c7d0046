import { glob } from 'tinyglobby';
import type { PublishedProject } from './read.ts';

/** The files that `ignorePatterns` of the configuration excludes, relative to the project. */
export async function ignoredFiles(
  projectDir: string,
  { config: { ignorePatterns } }: PublishedProject,
): Promise<ReadonlySet<string>> {
  if (ignorePatterns.length === 0) return new Set();
  return new Set(await glob([...ignorePatterns], { cwd: projectDir, ignore: ['**/node_modules/**'] }));
}
