/** A monorepo: task files in one package, native code as a dependency of another one, and two packages that depend on each other. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { inherited, repository } from '../cli/command.ts';
import { taskFile } from '../deployments/installation.ts';
import { platformProgram, programs } from './programs.ts';
import type { Registry } from './registry.ts';

const run = promisify(execFile);
export const native = '@node-rs/crc32';
const version = '1.10.8';

export interface PackageManager {
  readonly command: readonly string[];
  readonly lockfile: string;
  /** The versions of a workspace package and of a registry package in a package.json. */
  readonly workspace: string;
  readonly range: string;
  /** The message for a platform whose packages are not installed. */
  readonly otherPlatform: RegExp;
  readonly manifest?: object;
  readonly files?: (registry: Registry) => Readonly<Record<string, string>>;
}

const script = (path: string, ...args: string[]): string[] => [
  process.execPath,
  join(programs, 'node_modules', path),
  ...args,
];

const workspaces = ['packages/*'];
const pnpm = {
  command: script('pnpm/bin/pnpm.cjs', 'install', '--no-frozen-lockfile'),
  lockfile: 'pnpm-lock.yaml',
  workspace: 'workspace:*',
  range: 'catalog:',
  otherPlatform:
    /add os: \[current, linux\], cpu: \[current, arm64\], libc: \[current, glibc\] to supportedArchitectures of pnpm-workspace\.yaml/,
};
const pnpmFiles = (linker: string) => () => ({
  'pnpm-workspace.yaml': `packages: ['packages/*']\nnodeLinker: ${linker}\ncatalog:\n  '${native}': ${version}\n`,
});
const berry = {
  command: script('@yarnpkg/cli-dist/bin/yarn.js', 'install', '--no-immutable'),
  lockfile: 'yarn.lock',
  workspace: 'workspace:*',
  range: 'catalog:',
  otherPlatform: /to supportedArchitectures of \.yarnrc\.yml, delete node_modules, and run `yarn install`/,
  manifest: { workspaces },
};
const berryFiles =
  (linker: string) =>
  ({ url, token }: Registry) => ({
    'yarn.lock': '',
    '.yarnrc.yml': `nodeLinker: ${linker}
enableTelemetry: false
enableGlobalCache: false
npmRegistryServer: '${url}'
npmAuthToken: ${token}
npmAlwaysAuth: true
unsafeHttpWhitelist: ['127.0.0.1']
catalog:
  '${native}': ${version}
`,
  });

/** The programs must be installed. */
export const managersIn = () =>
  ({
    npm: {
      command: ['npm', 'install', '--no-audit', '--no-fund'],
      lockfile: 'package-lock.json',
      workspace: '*',
      range: version,
      otherPlatform: /^$/,
      manifest: { workspaces },
    },
    'pnpm, isolated': { ...pnpm, files: pnpmFiles('isolated') },
    'pnpm, hoisted': { ...pnpm, files: pnpmFiles('hoisted') },
    'yarn 1': {
      command: script('yarn/bin/yarn.js', 'install', '--non-interactive'),
      lockfile: 'yarn.lock',
      workspace: '1.0.0',
      range: version,
      otherPlatform: /run `yarn install --ignore-platform --force`/,
      manifest: { workspaces },
    },
    'yarn 4, node-modules': { ...berry, files: berryFiles('node-modules') },
    'yarn 4, pnpm': { ...berry, files: berryFiles('pnpm') },
    'yarn 4, pnp': { ...berry, files: berryFiles('pnp') },
    bun: {
      command: [platformProgram('@oven', 'bin/bun'), 'install'],
      lockfile: 'bun.lock',
      workspace: 'workspace:*',
      range: 'catalog:',
      otherPlatform: /run `bun install --os linux --cpu arm64`/,
      manifest: { workspaces: { packages: workspaces, catalog: { [native]: version } } },
    },
  }) satisfies Readonly<Record<string, PackageManager>>;

export interface Workspace {
  /** The root, and the package with the task files. */
  readonly root: string;
  readonly tasks: string;
  write(file: string, content: string): Promise<void>;
  install(...args: readonly string[]): Promise<void>;
}

/** Creates the files of a workspace and installs its packages from the registry, with caches of its own. */
export async function installedWorkspace(manager: PackageManager, registry: Registry): Promise<Workspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'millrace-workspace-')));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  const write = async (file: string, content: string): Promise<void> => {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), content);
  };
  const { workspace, range, manifest = {}, files } = manager;
  const { host } = new URL(registry.url);
  const packageFile = (name: string, dependencies: object): string =>
    JSON.stringify({ name, version: '1.0.0', type: 'module', exports: './index.ts', dependencies });
  const all = {
    'package.json': JSON.stringify({ name: 'workspace', private: true, ...manifest }),
    '.npmrc': `registry=${registry.url}/\n//${host}/:_authToken=${registry.token}\nalways-auth=true\n`,
    'packages/tasks/package.json': packageFile('tasks', { '@work/checks': workspace }),
    'packages/tasks/tasks/checksum.ts': taskFile(
      'checksum',
      "checksum('millrace')",
      "import { checksum } from '@work/checks';",
    ),
    'packages/checks/package.json': packageFile('@work/checks', { '@work/text': workspace, [native]: range }),
    'packages/checks/index.ts': `import { crc32 } from '${native}';
import { encoded } from '@work/text';
export const seed: number = 0;
export const checksum = (text: string): number => crc32(encoded(text), seed);`,
    'packages/text/package.json': packageFile('@work/text', { '@work/checks': workspace }),
    'packages/text/index.ts': `import { seed } from '@work/checks';
export const encoded = (text: string): Buffer => Buffer.from(text.slice(seed));`,
    ...files?.(registry),
  };
  for (const [file, content] of Object.entries(all)) await write(file, content);
  const home = join(root, '.home');
  await mkdir(home);
  const env = { PATH: inherited['PATH'], HOME: home, CI: '1', npm_config_cache: join(home, 'npm') };
  const install = async (...args: readonly string[]): Promise<void> => {
    const [program = '', ...own] = manager.command;
    await run(program, [...own, ...args], { cwd: root, env });
    const modules = join(root, 'packages/tasks/node_modules/@millrace');
    await mkdir(modules, { recursive: true });
    await rm(join(modules, 'sdk'), { force: true });
    await symlink(join(repository, 'packages/sdk'), join(modules, 'sdk'));
  };
  await install();
  return { root, tasks: join(root, 'packages/tasks'), write, install };
}
