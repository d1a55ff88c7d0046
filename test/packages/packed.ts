import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../cli/command.ts';
import { createdOnce } from '../support/created-once.ts';

export const run = promisify(execFile);

/** The published packages, by folder. */
export const published = [
  'contract',
  'fingerprint',
  'sdk',
  'server',
  'millrace',
  'create-millrace',
  'react',
  'testing',
] as const;
/** The published programs that no module imports. */
export const programs: readonly Published[] = ['create-millrace'];
/** The private packages bundled into `millrace`, by folder. */
export const bundled = ['platform', 'diagnostics', 'compat', 'runner', 'postgres', 'template'] as const;
export type Published = (typeof published)[number];

export const packageName = (folder: Published): string =>
  folder.endsWith('millrace') ? folder : `@millrace/${folder}`;

export interface Packed {
  readonly folder: string;
  readonly tarballs: Readonly<Record<Published, string>>;
  remove(): Promise<void>;
}

/** The packages that `npm publish` would upload, and a folder outside the repository. */
export async function packAll(): Promise<Packed> {
  const shared = await createdOnce('packed', async (half) => {
    const workspaces = published.flatMap((name) => ['-w', `packages/${name}`]);
    await run('npm', ['pack', ...workspaces, '--pack-destination', half, '--ignore-scripts'], {
      cwd: repository,
    });
  });
  const files = await readdir(shared);
  const tarballs = Object.fromEntries(
    published.map((name) => {
      const start = new RegExp(`^${packageName(name).replace(/^@(.*)\//, '$1-')}-\\d`);
      const file = files.find((candidate) => start.test(candidate));
      if (file === undefined) throw new Error(`npm pack created no tarball of packages/${name}`);
      return [name, join(shared, file)];
    }),
  ) as Record<Published, string>;
  const folder = await mkdtemp(join(tmpdir(), 'millrace-packed-'));
  return {
    folder,
    tarballs,
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** A folder in which `npm install` has installed all of them. npm runs once per test run, because it takes 15 seconds of processor time. */
const installed = ({ tarballs }: Packed): Promise<string> =>
  createdOnce('installed', async (half) => {
    await writeFile(
      join(half, 'package.json'),
      '{ "name": "far-away", "version": "1.0.0", "private": true, "type": "module" }',
    );
    await run('npm', ['install', ...npmOptions, ...Object.values(tarballs)], { cwd: half });
  });

/** Makes this folder a project in which `npm install` has installed all of them: a copy, which takes a second. */
export async function installAll(packed: Packed, project: string): Promise<void> {
  await mkdir(project, { recursive: true });
  await run('cp', ['-R', `${await installed(packed)}/.`, project]);
}

/** Gives this project their modules, so that `npm install` with them only adds others: npm compares the times of files. */
export async function copyModules(packed: Packed, project: string): Promise<void> {
  await run('cp', ['-a', join(await installed(packed), 'node_modules'), project]);
}

/** The tarballs, as arguments for `npm install`. */
export const npmOptions = ['--prefer-offline', '--no-audit', '--no-fund'] as const;
