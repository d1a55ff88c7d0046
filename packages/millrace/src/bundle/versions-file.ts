import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachinePreset, RetryPolicy } from '@millrace/contract/runner';
import type { TaskDefaults, TaskFiles } from '../executor/messages.ts';
import { renameOver } from '../platform/rename.ts';
import type { Entry } from './module-options.ts';

/** What an executor needs to serve a version. */
export interface ServedBuild {
  readonly hash: string;
  readonly dir: string;
  /** Of a deployed version: the module that exports the SDK, relative to `dir`. Its processes work in `dir`, others in the project. */
  readonly sdk?: string | undefined;
  readonly entries: readonly Entry[];
  readonly tasks: Readonly<Record<string, ServedTask>>;
  readonly defaults: TaskDefaults;
}

export interface ServedTask extends TaskFiles {
  /** Its runs get a process each. */
  readonly isolated: boolean;
  /** The same, with the memory of this machine. */
  readonly machine: MachinePreset | null;
  /** Seconds. */
  readonly maxDuration: number | null;
  /** If it asks for another machine when it runs out of memory. */
  readonly retry?: RetryPolicy;
}

type Stored = Record<string, Record<string, Omit<ServedBuild, 'dir'>>>;

/** Where the builds of a project folder are. */
export const buildsFolder = (projectDir: string): string => join(projectDir, '.millrace', 'build');

const fileOf = (buildsDir: string): string => join(buildsDir, 'versions.json');

async function read(buildsDir: string): Promise<Stored> {
  try {
    return JSON.parse(await readFile(fileOf(buildsDir), 'utf8')) as Stored;
  } catch {
    // Missing or truncated: versions are added when they are registered again.
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
