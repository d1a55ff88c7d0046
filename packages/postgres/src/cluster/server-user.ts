import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { EmbeddedPostgresError } from './errors.ts';

/** The user that PostgreSQL runs as, if it is not the current user. */
export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * PostgreSQL refuses to run as root, so root runs it as an existing unprivileged user: the owner of the cluster if there is one, else
 * `millrace`, which an administrator may have created for this, else `nobody`. Null if the current user is not root.
 */
export function serverUser(clusterFolder: string): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  const users = readUsers();
  const owner = statSync(clusterFolder, { throwIfNoEntry: false })?.uid;
  const chosen =
    users.find((user) => user.uid !== 0 && user.uid === owner) ??
    ['millrace', 'nobody', 'postgres', 'daemon'].flatMap(
      (name) => users.find((user) => user.name === name) ?? [],
    )[0];
  if (!chosen) {
    throw new EmbeddedPostgresError(
      'permission_denied',
      'PostgreSQL does not run as root, and the user `nobody` does not exist. Start Millrace as another user, or set DATABASE_URL.',
    );
  }
  const probe = asUser(chosen, ['true']);
  if (probe.error) {
    throw new EmbeddedPostgresError(
      'permission_denied',
      `PostgreSQL does not run as root, and it cannot be run as ${chosen.name} here (${probe.error.message}). Start Millrace as another user, or set DATABASE_URL.`,
    );
  }
  return chosen;
}

/** Whether the user may enter a folder, which takes permission on each folder above it. */
export function mayEnter(user: ServerUser, folder: string): boolean {
  return asUser(user, ['cd', folder]).status === 0;
}

/** Whether the user may execute a file. */
export function mayExecute(user: ServerUser, file: string): boolean {
  return asUser(user, ['test', '-x', file]).status === 0;
}

// Checked by attempting access, because mode bits do not include access control lists and mounts.
function asUser(user: ServerUser, command: string[]) {
  return spawnSync('/bin/sh', ['-c', '"$@"', 'sh', ...command], {
    uid: user.uid,
    gid: user.gid,
    cwd: '/',
    stdio: 'ignore',
  });
}

/** The current user's name, as used for peer authentication. */
export function ownName(): string {
  const own = readUsers().find(({ uid }) => uid === process.getuid?.());
  if (own) return own.name;
  throw new EmbeddedPostgresError(
    'permission_denied',
    'This user has no name in /etc/passwd, which PostgreSQL requires. Add one, or set DATABASE_URL.',
  );
}

function readUsers(): ServerUser[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}
