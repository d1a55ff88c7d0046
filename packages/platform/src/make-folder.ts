import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isFolder } from './is-folder.ts';

/** A folder that Millrace has to write to cannot be created or written to. */
export class FolderRefused extends Error {
  override readonly name = 'FolderRefused';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Creates a folder and those above it. Ends on every file system: the recursive `mkdir` of Node.js never does where creating a folder
 * answers ENOENT, as in /proc.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  await makeEach(folder, mode).catch((error: unknown) => {
    throw explainFolder(error, folder);
  });
}

async function makeEach(folder: string, mode: number): Promise<void> {
  if (await isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) await makeEach(parent, mode);
  await mkdir(folder, { mode }).catch(async (error: unknown) => {
    // Another process may have created it meanwhile.
    if (!(await isFolder(folder))) throw error;
  });
}

/** A sentence for a folder that cannot be created or written to; other errors as they are. */
export function explainFolder(error: unknown, folder: string): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new FolderRefused(
        code,
        `The folder ${folder} may not be written to (${code}). Give it to the user that runs Millrace, or choose another.`,
      );
    case 'EEXIST':
    case 'ENOTDIR':
      return new FolderRefused(
        code,
        `${folder} is not a folder: there is a file in its place. Choose another.`,
      );
    case 'ENOENT':
      return new FolderRefused(code, `The folder ${folder} cannot be created (ENOENT). Choose another.`);
    default:
      return error;
  }
}
