import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServedBuild } from '@millrace/runner';
import { renameOver } from '@millrace/platform';

type Stored = Record<string, Record<string, Omit<ServedBuild, 'dir'>>>;

/** The folder of a project's builds. */
export const buildsFolder = (projectDir: string): string => join(projectDir, '.millrace', 'build');

const fileOf = (buildsDir: string): string => join(buildsDir, 'versions.json');

async function read(buildsDir: string): Promise<Stored> {
  try {
    return JSON.parse(await readFile(fileOf(buildsDir), 'utf8')) as Stored;
  } catch {
    // If it is missing or truncated, versions are added when they are registered again.
    return {};
  }
}

/** The versions of one environment whose builds still exist here, oldest first. */
export async function versionsOnDisk(
  buildsDir: string,
  environment: string,
): Promise<Map<string, ServedBuild>> {
  const stored = (await read(buildsDir))[environment] ?? {};
  return new Map(
    Object.entries(stored)
      .map(([version, build]) => [version, { ...build, dir: join(buildsDir, build.hash) }] as const)
      .filter(([, { dir }]) => existsSync(dir)),
  );
}

/** Replaces the stored versions of one environment, oldest first. */
export async function keepVersions(
  buildsDir: string,
  environment: string,
  versions: ReadonlyMap<string, ServedBuild>,
): Promise<void> {
  const stored = await read(buildsDir);
  stored[environment] = Object.fromEntries(
    [...versions].map(([version, { hash, entries, tasks, defaults }]) => [
      version,
      { hash, entries, tasks, defaults },
    ]),
  );
  const half = `${fileOf(buildsDir)}.${randomBytes(6).toString('hex')}`;
  await writeFile(half, JSON.stringify(stored));
  await renameOver(half, fileOf(buildsDir));
}
