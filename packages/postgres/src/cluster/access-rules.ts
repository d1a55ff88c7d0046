import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { renameOver } from '@millrace/platform';
import { USERNAME } from './initialise.ts';
import { LOOPBACK, type Listening } from './listening.ts';
import { ownName, type ServerUser } from './server-user.ts';

const map = 'millrace';
const head = '# Written by Millrace at each start.\n';

/**
 * Writes pg_hba.conf at each start, because folders of earlier versions allowed every local user. Under root, the server's user may be
 * `nobody`, as other processes may be: with peer authentication only root may connect, and there is no password that could be read.
 * Otherwise the server runs as the current user, whose processes have the same rights anyway. A port is open to all users of the machine,
 * so there a password is required.
 */
export async function writeAccessRules(
  clusterFolder: string,
  user: ServerUser | null,
  via: Listening['via'],
): Promise<void> {
  const { rule, mapping } = via === 'socket' ? socketRules(user) : portRules;
  await replace(join(clusterFolder, 'pg_hba.conf'), `${head}${rule}\n`, user);
  await replace(join(clusterFolder, 'pg_ident.conf'), `${head}${mapping}\n`, user);
}

const portRules = { rule: `host all ${USERNAME} ${LOOPBACK}/32 scram-sha-256`, mapping: '' };

const socketRules = (user: ServerUser | null): { rule: string; mapping: string } =>
  user
    ? { rule: `local all all peer map=${map}`, mapping: `${map} "${ownName()}" ${USERNAME}` }
    : { rule: 'local all all trust', mapping: '' };

/** The server's user owns the folder and may have created a link, so a link is replaced rather than followed. */
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
  await renameOver(draft, file);
}
