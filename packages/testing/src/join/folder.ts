import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder of this installation's host. Two checkouts on one machine have two hosts, each with its own code. It persists between runs, so
 * that only the first one creates a database.
 */
export async function hostFolder(main: string): Promise<string> {
  const own = process.getuid?.();
  const cache =
    process.env['MILLRACE_TEST_CACHE'] ??
    (own === 0
      ? '/var/cache/millrace'
      : join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'millrace'));
  const key = createHash('sha256').update(main).digest('hex').slice(0, 12);
  const folder = join(cache, `testing-${key}`);
  // If this process runs as root, PostgreSQL runs as another user, who must be able to enter the folder.
  await mkdir(folder, { recursive: true, mode: own === 0 ? 0o711 : 0o700 });
  return folder;
}
