import { closeSync, openSync } from 'node:fs';
import { EmbeddedPostgresError } from './errors.ts';
import { mayEnter, type ServerUser } from './server-user.ts';

/** Folders as a child process may name them, and the descriptors it must be given (from 3 on) for those names to work. */
export interface VisibleFolders {
  paths: string[];
  descriptors: number[];
  close(): void;
}

/**
 * Names folders so that the server's user can use them, though it may not enter the folders above: with root's data
 * under /root, say, which user nobody cannot cross. We open the folders as root and hand the descriptors down;
 * `/proc/self/fd/N` then leads straight into them. So no permission is widened and the data stays where it was asked for.
 */
export function visibleFolders(folders: string[], user: ServerUser | null): VisibleFolders {
  const hidden = user && folders.find((folder) => !mayEnter(user, folder));
  if (!hidden) return { paths: folders, descriptors: [], close: () => {} };
  if (process.platform !== 'linux') {
    throw new EmbeddedPostgresError(
      'permission_denied',
      `PostgreSQL runs as ${user.name}, who may not enter ${hidden}. Choose a data folder that every user may reach (--data), or start Millrace as another user.`,
    );
  }
  const descriptors = folders.map((folder) => openSync(folder, 'r'));
  return {
    paths: folders.map((_, index) => `/proc/self/fd/${3 + index}`),
    descriptors,
    close: () => descriptors.forEach((descriptor) => closeSync(descriptor)),
  };
}
