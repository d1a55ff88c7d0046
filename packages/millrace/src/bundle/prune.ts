import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Number of builds to keep. The oldest are removed first. */
export const maxBuilds = 10;
/** Milliseconds. Another command in the same project may be about to register a newer build. */
const young = 60_000;

/** Removes old builds that are not in use and returns their hashes. */
export async function pruneBuilds(buildsDir: string, inUse: ReadonlySet<string>): Promise<string[]> {
  const names = (await readdir(buildsDir)).filter((name) => /^(?:[0-9a-f]{32}|\.half-.*)$/.test(name));
  const builds = await Promise.all(
    names.map(async (name) => ({ name, used: (await stat(join(buildsDir, name))).mtimeMs })),
  );
  const old = builds
    .toSorted((a, b) => b.used - a.used)
    .slice(maxBuilds)
    .filter(({ name, used }) => !inUse.has(name) && Date.now() - used > young);
  for (const { name } of old) await rm(join(buildsDir, name), { recursive: true, force: true });
  return old.map(({ name }) => name);
}
