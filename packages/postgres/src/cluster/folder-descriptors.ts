import { closeSync, openSync } from 'node:fs';
import { EmbeddedPostgresError } from './errors.ts';
import { mayEnter, type ServerUser } from './server-user.ts';

/** Paths for a child process, and the descriptors that it must inherit (from 3 on) for these paths to work. */
export interface FolderDescriptors {
  paths: string[];
  descriptors: number[];
  close(): void;
}

/**
 * Gives the server's user access to folders whose parents it cannot access, such as root's data under /root. The folders are opened as
 * root and their descriptors are inherited; the paths are `/proc/self/fd/N`. No permission is changed and the data stays in place.
 */
export function folderDescriptors(folders: string[], user: ServerUser | null): FolderDescriptors {
  const hidden = user && folders.find((folder) => !mayEnter(user, folder));
  if (!hidden) return { paths: folders, descriptors: [], close: () => {} };
  if (process.platform !== 'linux') {
    throw new EmbeddedPostgresError(
      'permission_denied',
      `PostgreSQL runs as ${user.name}, who cannot access ${hidden}. Choose a data folder that every user can access (--data), or start Millrace as another user.`,
    );
  }
  const descriptors = folders.map((folder) => openSync(folder, 'r'));
  return {
    paths: folders.map((_, index) => `/proc/self/fd/${3 + index}`),
    descriptors,
    close: () => descriptors.forEach((descriptor) => closeSync(descriptor)),
  };
}
