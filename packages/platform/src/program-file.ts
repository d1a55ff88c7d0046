import { join } from 'node:path';

/** The file of a program in a folder. */
export const programFile = (
  folder: string,
  name: string,
  system: NodeJS.Platform = process.platform,
): string => join(folder, system === 'win32' ? `${name}.exe` : name);
