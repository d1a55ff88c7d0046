import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The folders that contain the code of a build, in the form used in stacks. Frames with a source map are in the working folder, others in the
 * build.
 */
export function projectFolders(dir: string): string[] {
  const folders = [dir, realpathSync(dir), process.cwd()].map((folder) =>
    folder.endsWith(sep) ? folder : folder + sep,
  );
  return [...new Set([...folders.map((folder) => pathToFileURL(folder).href), ...folders])];
}
