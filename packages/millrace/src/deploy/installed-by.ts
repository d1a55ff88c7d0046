import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowedScripts, readManifest } from '@millrace/diagnostics';
import { whyNotBundled } from '../bundle/unbundlable.ts';
import { LayerRefused } from './layer-refused.ts';
import { lockedVersions } from './locked-versions.ts';
import type { Lockfile } from './lockfile.ts';

/** The package manager that installed a project's packages, and its lockfile. */
export interface InstalledBy {
  /** Throws a LayerRefused if the lockfile does not contain a package. */
  refuseUnlocked(name: string, version: string | undefined, folder: string): void;
  /** Throws a LayerRefused if the lockfile contains a package that is not installed. */
  refuseMissing(name: string, neededBy: string): void;
  /** How to install the packages for another platform. */
  howToInstallFor(platform: string): string;
}

/** A project without a lockfile may only have packages that are the same on every platform. */
export function installedWithoutLockfile(projectDir: string): InstalledBy {
  const project = readManifest(projectDir);
  const noLockfile = `there is no lockfile in ${projectDir} or above: run \`npm install\``;
  return {
    refuseUnlocked(name, version, folder) {
      const why = whyNotBundled(folder, allowedScripts(project, name, version) === false);
      if (why !== undefined)
        throw new LayerRefused(
          `${name} cannot be bundled (${why}), and its version must be in a lockfile: ${noLockfile}.`,
        );
    },
    refuseMissing() {},
    howToInstallFor: () => noLockfile,
  };
}

/** Reads a lockfile of pnpm, yarn or bun. Throws a LayerRefused if that is not possible. */
export function installedBy({ folder, name: lockfile, manager }: Lockfile): InstalledBy {
  const file = join(folder, lockfile);
  const install = `\`${manager} install\``;
  if (lockfile === 'bun.lockb')
    throw new LayerRefused(
      `${file} is not text: run \`bun install --save-text-lockfile --lockfile-only\`, and delete it.`,
    );
  const text = readFileSync(file, 'utf8');
  if (/^(?:<{7}|>{7}) /m.test(text))
    throw new LayerRefused(`${file} has merge conflict markers: resolve them and run ${install}.`);
  const locked = lockedVersions(lockfile, text);
  if (locked === undefined)
    throw new LayerRefused(
      `${file} has an old format: run ${install} with a later version of ${manager}, such as pnpm 8.`,
    );
  const isBerry = lockfile === 'yarn.lock' && /^__metadata:/m.test(text);
  return {
    refuseUnlocked(name, version) {
      if (locked.has(name, version)) return;
      const difference = locked.hasAny(name)
        ? `${name} ${version} is in node_modules, and ${file} has another version`
        : `${name} is in node_modules, but not in ${file}`;
      throw new LayerRefused(`${difference}: run ${install}.`);
    },
    refuseMissing(name, neededBy) {
      if (!locked.hasAny(name)) return;
      throw new LayerRefused(
        `${name}, which ${neededBy} needs, is in ${file}, but not in node_modules: run ${install}.`,
      );
    },
    howToInstallFor(platform) {
      const [os, cpu, libc] = platform.split('-');
      if (manager === 'bun') return `run \`bun install --os ${os} --cpu ${cpu}\``;
      if (manager === 'yarn' && !isBerry) return 'run `yarn install --ignore-platform --force`';
      const setting = `os: [current, ${os}], cpu: [current, ${cpu}]${libc === undefined ? '' : `, libc: [current, ${libc}]`}`;
      return manager === 'pnpm'
        ? `add ${setting} to supportedArchitectures of pnpm-workspace.yaml, and run ${install}`
        : // Yarn's pnpm linker keeps the empty folders of packages for other platforms.
          `add ${setting} to supportedArchitectures of .yarnrc.yml, delete node_modules, and run ${install}`;
    },
  };
}
