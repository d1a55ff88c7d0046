import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programFile, renameOver, syncFolder } from '@millrace/platform';
import type { Binaries } from './binaries.ts';
import { cleanUpServer } from './clean-up.ts';
import { EmbeddedPostgresError, explainOutput } from './errors.ts';
import { DATABASE, USERNAME } from './initialise.ts';
import { runSingleUser } from './run-program.ts';
import type { ServerUser } from './server-user.ts';

// In the folder of the cluster, so that it is moved and copied together with its cluster.
const FILE = 'millrace.password';

export interface EnsurePassword {
  clusterFolder: string;
  binaries: Binaries;
  user: ServerUser | null;
  onLog: (line: string) => void;
}

/**
 * The password of a cluster on a port. It is random and created at the first start. The file is written before the database knows the password
 * and renamed afterwards, so an interrupted start creates another one.
 */
export async function ensurePassword({
  clusterFolder,
  binaries,
  user,
  onLog,
}: EnsurePassword): Promise<string> {
  const file = join(clusterFolder, FILE);
  if (existsSync(file)) return readPassword(clusterFolder);
  if (existsSync(join(clusterFolder, 'recovery.signal'))) {
    throw new EmbeddedPostgresError(
      'start_failed',
      `The backup was made of a database without a password, which Millrace requires on this system. Restore it on Linux or macOS.`,
    );
  }
  // PostgreSQL refuses to start a second process on the folder.
  await cleanUpServer(clusterFolder, undefined, onLog);
  const password = randomBytes(24).toString('base64url');
  const draft = `${file}.new-${randomBytes(8).toString('hex')}`;
  try {
    await writeFile(draft, `${password}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await runSingleUser(
      user,
      programFile(binaries.folder, 'postgres'),
      { cluster: clusterFolder, database: DATABASE, settings: { password_encryption: 'scram-sha-256' } },
      `ALTER ROLE ${USERNAME} PASSWORD '${password}'\n`,
      [],
    );
    await renameOver(draft, file);
    await syncFolder(clusterFolder);
  } catch (error) {
    await rm(draft, { force: true });
    throw explainOutput(
      'start_failed',
      'The password of the database could not be set',
      clusterFolder,
      (error as Error).message.replaceAll(password, '…'),
    );
  }
  return password;
}

export async function readPassword(clusterFolder: string): Promise<string> {
  return (await readFile(join(clusterFolder, FILE), 'utf8')).trim();
}
