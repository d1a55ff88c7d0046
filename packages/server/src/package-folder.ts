import { existsSync } from 'node:fs';

/** The folder of this package. Bundling moves code between files, so its path relative to a module varies. */
export const packageFolder: URL = folderAbove(new URL('./', import.meta.url));

function folderAbove(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : folderAbove(new URL('../', folder));
}
