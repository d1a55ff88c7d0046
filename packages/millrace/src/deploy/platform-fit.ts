import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageManifest } from '@millrace/diagnostics';
import { platformHere } from '@millrace/runner';
import { whyNotBundled } from '../bundle/unbundlable.ts';

/** The fields of a package that name platforms, in a package.json or a lockfile. */
type Limits = Pick<PackageManifest, 'os' | 'cpu' | 'libc'>;

/** Whether a package may be installed on a platform such as `linux-x64-glibc`. */
export function allowsPlatform({ os, cpu, libc }: Limits, platform: string): boolean {
  const [system = '', processor = '', library = ''] = platform.split('-');
  return allows(os, system) && allows(cpu, processor) && (library === '' || allows(libc, library));
}

const allows = (list: readonly string[] | string | undefined, value: string): boolean =>
  list === undefined || allowsOne(typeof list === 'string' ? [list] : list, value);

const allowsOne = (list: readonly string[], value: string): boolean =>
  list.includes(`!${value}`)
    ? false
    : list.every((entry) => entry.startsWith('!')) || list.includes(value) || list.includes('any');

/** Whether the name of a package, such as `@img/sharp-linux-x64`, is that of its build for a platform. */
export function isNamedFor(name: string, platform: string): boolean {
  const [system = '', processor = '', library] = platform.split('-');
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  const isMusl = words.some((word) => word.endsWith('musl'));
  return (
    words.some((word) => word === system || word === `${system}musl` || word === `${system}glibc`) &&
    words.includes(processor) &&
    (library === undefined || isMusl === (library === 'musl'))
  );
}

/** The reason why the files of an installed package work only on this machine's platform; undefined if they also work on another. */
export function whyOnlyHere(
  folder: string,
  manifest: PackageManifest,
  needsNoScript: boolean,
  platform: string,
): string | undefined {
  if (platform === platformHere()) return undefined;
  // A package for a platform, one with builds for many, and one whose builds are other packages.
  if (manifest.os !== undefined || manifest.cpu !== undefined) return undefined;
  if (hasPrebuilt(folder, platform)) return undefined;
  if (Object.keys(manifest.optionalDependencies ?? {}).some((name) => isNamedFor(name, platform)))
    return undefined;
  return whyNotBundled(folder, needsNoScript);
}

/** `prebuilds/linux-x64`, as prebuildify writes it. */
function hasPrebuilt(folder: string, platform: string): boolean {
  const prebuilds = join(folder, 'prebuilds');
  const [system = '', processor = ''] = platform.split('-');
  return (
    existsSync(prebuilds) &&
    readdirSync(prebuilds).some((name) => {
      const [built, ...processors] = name.split(/[-+]/);
      return built === system && processors.includes(processor);
    })
  );
}
