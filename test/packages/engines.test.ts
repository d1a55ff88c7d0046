import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { satisfies } from 'semver';
import { describe, expect, test } from 'vitest';
import { firstProject } from '@millrace/template';
import { repository } from '../cli/command.ts';
import { published } from './packed.ts';

interface Locked {
  readonly version?: string;
  readonly engines?: { readonly node?: string };
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  /** Packages only of a development dependency, or of an optional peer, which npm does not install automatically. */
  readonly devOptional?: boolean;
}

const read = async <T>(file: string): Promise<T> =>
  JSON.parse(await readFile(join(repository, file), 'utf8')) as T;

interface Lockfile {
  readonly packages: Readonly<Record<string, Locked>>;
}

const { packages } = await read<Lockfile>('package-lock.json');
const forTests = await read<Lockfile>('test/package-lock.json');
const root = await read<{ engines: { node: string }; allowScripts: Record<string, boolean> }>('package.json');
const oldestNode = `${/^>=(\d+\.\d+)$/.exec(root.engines.node)?.[1]}.0`;

describe('the packages that npm installs', () => {
  test('all support the oldest supported Node', () => {
    const refusing = [...Object.entries(packages), ...Object.entries(forTests.packages)].flatMap(
      ([path, { version, engines }]) =>
        engines?.node === undefined || satisfies(oldestNode, engines.node)
          ? []
          : [`${path}@${version} requires Node ${engines.node}`],
    );
    expect(refusing).toEqual([]);
  });

  test('run only approved scripts at installation', async () => {
    const undecided = (locked: Lockfile['packages'], { allowScripts }: Pick<typeof root, 'allowScripts'>) =>
      Object.entries(locked).flatMap(([path, { hasInstallScript }]) => {
        const name = path.split('node_modules/').at(-1) ?? path;
        return hasInstallScript && allowScripts[name] === undefined ? [name] : [];
      });
    expect(undecided(packages, root)).toEqual([]);
    expect(undecided(forTests.packages, await read<typeof root>('test/package.json'))).toEqual([]);
  });
});

describe('a first project', () => {
  test('denies the scripts of its packages by name', () => {
    const manifest = JSON.parse(firstProject('first', '0.0.0')['package.json'] ?? '') as typeof root;
    const withScripts = Object.entries(packages)
      .filter(([, { hasInstallScript, dev, devOptional }]) => hasInstallScript && !dev && !devOptional)
      .map(([path]) => [path.split('node_modules/').at(-1), false]);
    expect(manifest.allowScripts).toEqual(Object.fromEntries(withScripts));
  });
});

describe('the published packages', () => {
  test.each(published)('%s requires the same Node', async (name) => {
    expect(await read(`packages/${name}/package.json`)).toMatchObject({ engines: root.engines });
  });
});
