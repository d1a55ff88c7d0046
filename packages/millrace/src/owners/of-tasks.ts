import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { IndexedTask } from '@millrace/runner';
import { slashes } from '../bundle/messages.ts';
import { repositoryAbove } from '../project/repository.ts';
import { codeowners } from './codeowners.ts';

/** In the order in which GitHub and GitLab look for the file; the first one counts. */
const locations = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'];

/** The tasks of a project with their owners. */
export interface OwnedTasks {
  readonly tasks: readonly IndexedTask[];
  /** The absolute path of the CODEOWNERS file, if there is one. */
  readonly file: string | undefined;
}

/** Adds owners from the repository's CODEOWNERS file to the tasks that declare none. */
export async function withOwners(projectDir: string, tasks: readonly IndexedTask[]): Promise<OwnedTasks> {
  const root = repositoryAbove(projectDir) ?? projectDir;
  for (const location of locations) {
    const file = join(root, location);
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const ownerOf = codeowners(text);
    const owned = tasks.map((task): IndexedTask => {
      const { manifest } = task;
      if (manifest.owner !== undefined) return task;
      const owner = ownerOf(slashes(relative(root, join(projectDir, manifest.filePath))));
      return owner === undefined ? task : { ...task, manifest: { ...manifest, owner } };
    });
    return { tasks: owned, file };
  }
  return { tasks, file: undefined };
}
