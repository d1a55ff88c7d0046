import { readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { explainFolder, FolderRefused, makeFolder } from '@millrace/platform';

/** Entries of a folder without a project: an empty repository, and files of file managers. */
const ignored = new Set(['.git', '.DS_Store', 'Thumbs.db']);

/** Writes files by relative path into a folder, which is created if necessary. Throws if it has other files. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await makeFolder(folder);
  try {
    if ((await readdir(folder)).some((name) => !ignored.has(name))) throw notEmpty(folder);
    for (const [path, text] of Object.entries(files)) {
      await makeFolder(dirname(join(folder, path)));
      await writeFile(join(folder, path), text, { flag: 'wx' });
    }
  } catch (error) {
    // Another process has written the file since.
    throw (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? notEmpty(folder)
      : explainFolder(error, folder);
  }
}

const notEmpty = (folder: string): FolderRefused =>
  new FolderRefused(
    'ENOTEMPTY',
    `The folder ${folder} is not empty. Pass the name of a new folder: npm create millrace my-tasks. To add Millrace to an existing project, run in its folder: npx millrace init`,
  );
