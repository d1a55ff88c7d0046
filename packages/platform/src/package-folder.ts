import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the package that contains this module. Bundling moves code between files, so its distance varies. */
export const packageFolderOf = (moduleUrl: string): string => folderAbove(dirname(fileURLToPath(moduleUrl)));

function folderAbove(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderAbove(dirname(folder));
}

interface Manifest {
  readonly version: string;
  /** Only in the repository: a private package has no separate files in an installation. */
  readonly private?: boolean;
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

const own = packageFolderOf(import.meta.url);

/** The folder of the package `millrace`. This file is bundled into it; in the repository, it is in the package next to it. */
export const packageFolder: string = manifestIn(own).private ? join(own, '../millrace') : own;

/** The version of the package `millrace`. */
export const { version } = manifestIn(packageFolder);
