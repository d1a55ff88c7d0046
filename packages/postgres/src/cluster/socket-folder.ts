import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOCKET_PORT } from './listening.ts';
import type { ServerUser } from './server-user.ts';

// macOS allows 103 bytes in the path of a socket, Linux 107.
const LONGEST = 103;

/**
 * Creates the folder of the server's socket, accessible only to the server's user. It is in the data folder or, if that path is too long
 * for a socket, in the system's temporary folder. Its name depends only on the data folder, so killed processes leave at most one behind.
 */
export async function makeSocketFolder(dataFolder: string, user: ServerUser | null): Promise<string> {
  const inside = join(dataFolder, 'run');
  if (fits(inside)) {
    await mkdir(inside, { recursive: true, mode: 0o700 });
    return makePrivate(inside, user);
  }
  const name = `millrace-${createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)}`;
  const parent = [tmpdir(), '/tmp'].find((folder) => fits(join(folder, `${name}-000000`))) ?? '/tmp';
  const short = join(parent, name);
  await mkdir(short, { mode: 0o700 }).catch(() => {});
  // The name is predictable, so another user may have created it.
  const found = await lstat(short);
  const owners = [process.getuid?.(), user?.uid];
  const ours = found.isDirectory() && owners.includes(found.uid) && (found.mode & 0o077) === 0;
  return makePrivate(ours ? short : await mkdtemp(`${short}-`), user);
}

async function makePrivate(folder: string, user: ServerUser | null): Promise<string> {
  await chmod(folder, 0o700);
  if (user) await chown(folder, user.uid, user.gid);
  return folder;
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, `.s.PGSQL.${SOCKET_PORT}`)) <= LONGEST;
}
