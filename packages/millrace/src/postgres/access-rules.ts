import { randomBytes } from 'node:crypto';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { USERNAME } from './initialise.ts';
import { ownName, type ServerUser } from './server-user.ts';

const map = 'millrace';
const head = '# Written by Millrace at each start.\n';

/**
 * Writes pg_hba.conf at each start, because folders of earlier versions allowed every local user. Under root, the server's user may be
 * `nobody`, as other processes may be: with peer authentication only root may connect, and there is no password that could be read.
 * Otherwise the server runs as the current user, whose processes have the same rights anyway.
 */
export async function writeAccessRules(clusterFolder: string, user: ServerUser | null): Promise<void> {
  const rule = user ? `local all all peer map=${map}` : 'local all all trust';
  const mapping = user ? `${map} "${ownName()}" ${USERNAME}` : '';
  await replace(join(clusterFolder, 'pg_hba.conf'), `${head}${rule}\n`, user);
  await replace(join(clusterFolder, 'pg_ident.conf'), `${head}${mapping}\n`, user);
}

/** The server's user owns the folder and may have created a link: it is replaced and not followed. */
async function replace(file: string, text: string, user: ServerUser | null): Promise<void> {
  const draft = `${file}.new-${randomBytes(8).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    if (user) await handle.chown(user.uid, user.gid);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
