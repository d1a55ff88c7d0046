import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownWays } from '@millrace/platform';
import type { LayerPlan } from './layer-plan.ts';
import { LayerRefused } from './layer-refused.ts';

const run = promisify(execFile);
const prefix = 'millrace-layer-';
/** A folder older than this was left behind by a killed command. */
const abandonedMs = 86_400_000;

/** Settings of an npm that runs this command. They refer to another folder. */
const ofAnotherFolder =
  /^npm_(?:package_|lifecycle_|config_(?:local_prefix|prefix|workspaces?|include_workspace_root|global|dry_run|omit|include|json)$)/i;

export interface InstallOptions {
  /** Folders whose `.npmrc` applies, the most important one last. */
  readonly npmrcFolders: readonly string[];
  /** Packages whose install scripts are executed. */
  readonly scripts: readonly string[];
  /** Stops npm. */
  readonly signal?: AbortSignal | undefined;
}

/** Installs the packages of a plan into a temporary folder, calls `use` with it and removes it. */
export async function withInstalled<T>(
  plan: LayerPlan,
  { npmrcFolders, scripts, signal }: InstallOptions,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  await removeAbandoned();
  const folder = await mkdtemp(join(tmpdir(), prefix));
  try {
    const manifest = {
      name: 'layer',
      version: '1.0.0',
      private: true,
      dependencies: plan.dependencies,
      allowScripts: Object.fromEntries(scripts.map((name) => [name, true])),
    };
    const { name, version, dependencies } = manifest;
    const lock = {
      name,
      version,
      lockfileVersion: 3,
      requires: true,
      packages: { '': { name, version, dependencies }, ...plan.packages },
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const npmrc = npmrcFile(npmrcFolders);
    await lendNpmrc(npmrc, join(folder, '.npmrc'));
    const [os = '', cpu = '', libc] = plan.platform.split('-');
    const target = [`--os=${os}`, `--cpu=${cpu}`, ...(libc === undefined ? [] : [`--libc=${libc}`])];
    const ci = [
      'ci',
      '--ignore-scripts',
      '--omit=dev',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--no-bin-links',
      ...target,
    ];
    await npm(folder, ci, npmrc, signal);
    if (scripts.length > 0) await npm(folder, ['rebuild', ...scripts], npmrc, signal);
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const npmrcFile = (folders: readonly string[]): string | undefined =>
  folders.map((folder) => join(folder, '.npmrc')).findLast((path) => existsSync(path));

/** A link, because the file may contain a token, and a killed command leaves the folder behind. */
async function lendNpmrc(file: string | undefined, to: string): Promise<void> {
  // Links require a privilege on Windows.
  if (file !== undefined) await (ownWays === 'windows' ? copyFile(file, to) : symlink(file, to));
}

async function removeAbandoned(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  await Promise.all(
    names.map(async (name) => {
      const path = join(tmpdir(), name);
      const found = await stat(path).catch(() => undefined);
      // Folders of other users are not removed.
      if (found && Date.now() - found.mtimeMs > abandonedMs)
        await rm(path, { recursive: true, force: true }).catch(() => {});
    }),
  );
}

async function npm(
  folder: string,
  args: readonly string[],
  npmrc: string | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofAnotherFolder.test(name)));
  const isWindows = process.platform === 'win32';
  await run(isWindows ? 'npm.cmd' : 'npm', args, {
    cwd: folder,
    env,
    shell: isWindows,
    signal,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: NodeJS.ErrnoException & { stderr?: string }) => {
    signal?.throwIfAborted();
    if (error.code === 'ENOENT')
      throw new LayerRefused(
        'Packages that cannot be bundled are installed by npm, which was not found: install npm, or add its folder to PATH.',
      );
    const npmErrors = (error.stderr ?? error.message)
      .split('\n')
      .filter((line) => line.startsWith('npm error'));
    const lines = npmErrors.filter((line) => !/complete log|debug-0\.log/.test(line)).slice(0, 12);
    const registries =
      npmrc === undefined ? 'without an .npmrc in the project' : `with the registries and tokens of ${npmrc}`;
    throw new LayerRefused(
      [`\`npm ${args[0]}\` failed for the packages of the layer, ${registries}:`, ...lines].join('\n'),
    );
  });
}
