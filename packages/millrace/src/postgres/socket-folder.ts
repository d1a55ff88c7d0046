import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerUser } from './server-user.ts';
import { PORT } from './settings.ts';

// macOS allows 103 bytes in the path of a socket, Linux 107.
const LONGEST = 103;

/**
 * The folder of the server's socket, for the server's user alone.
 * It lies in the data folder, or, when that path is too long for a socket, under the system's temporary folder by a
 * name that depends on the data folder only, so that a killed process leaves one at most.
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
  // The name can be foreseen, so somebody else may sit there already.
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
  return Buffer.byteLength(join(folder, `.s.PGSQL.${PORT}`)) <= LONGEST;
}
