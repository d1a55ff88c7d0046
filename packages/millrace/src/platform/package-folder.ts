import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the package that contains this module. Bundling moves code between files, so its distance varies. */
export const packageFolderOf = (moduleUrl: string): string => folderAbove(dirname(fileURLToPath(moduleUrl)));

function folderAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderAbove(dirname(folder));
}

/** The folder of this package. */
export const packageFolder: string = packageFolderOf(import.meta.url);
