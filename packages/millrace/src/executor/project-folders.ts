import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The folders that the code of a build is in, as stacks have them. A source map leads to the working folder, what has none to the build. */
export function projectFolders(dir: string): string[] {
  const folders = [dir, realpathSync(dir), process.cwd()].map((folder) =>
    folder.endsWith(sep) ? folder : folder + sep,
  );
  return [...new Set([...folders.map((folder) => pathToFileURL(folder).href), ...folders])];
}
