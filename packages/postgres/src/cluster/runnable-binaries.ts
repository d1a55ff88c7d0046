import { chmod, copyFile, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { renameOver } from '@millrace/platform';
import { EmbeddedPostgresError } from './errors.ts';
import { restoreLinks } from './library-links.ts';
import { mayExecute, type ServerUser } from './server-user.ts';

/**
 * Returns a binaries tree that the server's user can run: the npm package itself if possible, otherwise a copy. A copy is needed if root
 * installed the package under a folder that only root may enter, such as /root, or if a read-only installation lacks the library links.
 */
export async function runnableBinaries(
  tree: string,
  user: ServerUser | null,
  cacheFolders: string[] = defaultCacheFolders(),
): Promise<string> {
  if ((await restoreLinks(tree)) && (!user || mayExecute(user, join(tree, 'bin', 'postgres')))) return tree;
  const { version } = JSON.parse(readFileSync(join(dirname(tree), 'package.json'), 'utf8')) as {
    version: string;
  };
  const reasons: string[] = [];
  for (const cache of cacheFolders) {
    try {
      const copy = await copyOnce(tree, cache, `postgres-${version}-${process.platform}-${process.arch}`);
      if (!user || mayExecute(user, join(copy, 'bin', 'postgres'))) return copy;
      reasons.push(`${user.name} cannot access ${cache}`);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new EmbeddedPostgresError(
    'permission_denied',
    `The PostgreSQL programs in ${tree} cannot be run as ${user?.name ?? 'this user'}, nor copied to where they can (${reasons.join('; ')}). Install Millrace in a folder that every user can access, or set DATABASE_URL.`,
  );
}

function defaultCacheFolders(): string[] {
  const own = process.getuid?.();
  const cache =
    own === 0
      ? '/var/cache/millrace'
      : join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'millrace');
  return [cache, join(tmpdir(), `millrace-cache-${own ?? 0}`)];
}

async function copyOnce(tree: string, cache: string, name: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  await refuseForeign(cache);
  await chmod(cache, 0o755);
  const copy = join(cache, name);
  if (existsSync(copy)) {
    await refuseForeign(copy);
    return copy;
  }
  const draft = await mkdtemp(join(cache, `${name}.draft-`));
  try {
    await copyReadable(tree, draft);
    await restoreLinks(draft);
    await renameOver(draft, copy);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process finished the same copy first.
    if (!existsSync(copy)) throw error;
    await refuseForeign(copy);
  }
  return copy;
}

/** Another user may have prepared a folder in /tmp: only binaries that the current user owns and other users cannot change are run. */
async function refuseForeign(folder: string): Promise<void> {
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${folder} belongs to another user or can be changed by one`);
  }
}

// Sets modes explicitly, because a strict umask would deny the server's user access.
async function copyReadable(from: string, to: string): Promise<void> {
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) {
      await mkdir(target);
      await copyReadable(source, target);
    } else if (entry.isFile() && !entry.name.endsWith('.a')) {
      await copyFile(source, target);
      await chmod(target, 0o755);
    }
  }
}
