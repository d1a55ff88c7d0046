import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isFolder } from './is-folder.ts';

/** A folder that Millrace must write to cannot be created or written to. */
export class FolderRefused extends Error {
  override readonly name = 'FolderRefused';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Creates a folder and its parents. Terminates on every file system: the recursive `mkdir` of Node.js loops forever where creating a folder
 * fails with ENOENT, as in /proc.
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
    // Another process may have created it in the meantime.
    if (!(await isFolder(folder))) throw error;
  });
}

/** An explanation for a folder that cannot be created or written to; other errors are returned unchanged. */
export function explainFolder(error: unknown, folder: string): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new FolderRefused(
        code,
        `The folder ${folder} is not writable (${code}). Grant the user that runs Millrace write permission, or choose another folder.`,
      );
    case 'EEXIST':
    case 'ENOTDIR':
      return new FolderRefused(code, `${folder} is a file, not a folder. Choose another folder.`);
    case 'ENOENT':
      return new FolderRefused(
        code,
        `The folder ${folder} cannot be created (ENOENT). Choose another folder.`,
      );
    default:
      return error;
  }
}
