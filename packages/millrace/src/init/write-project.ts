import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { firstProject, packageName } from './first-project.ts';

export interface WrittenProject {
  readonly folder: string;
  readonly written: readonly string[];
  /** Existing files, which are not changed. */
  readonly kept: readonly string[];
}

/** Writes a first project into a folder, which is created if necessary. Existing files are never changed. */
export async function writeProject(folder: string, version: string): Promise<WrittenProject> {
  const target = resolve(folder);
  const written: string[] = [];
  const kept: string[] = [];
  for (const [path, text] of Object.entries(firstProject(packageName(basename(target)), version))) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    // `wx` creates the file atomically and fails if it exists.
    const isNew = await writeFile(join(target, path), text, { flag: 'wx' }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );
    (isNew ? written : kept).push(path);
  }
  return { folder: target, written, kept };
}
