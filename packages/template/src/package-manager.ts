import { allowScripts } from './install-scripts.ts';

/** The commands of a package manager in a project. */
export interface PackageManager {
  readonly name: string;
  readonly install: string;
  /** Runs a script of package.json. */
  readonly run: string;
  /** Runs a program of an installed package. */
  readonly exec: string;
  /** Files that only this package manager reads, by relative path. */
  readonly files: Readonly<Record<string, string>>;
}

/** pnpm 11 rejects an installation with install scripts for which no decision is recorded. */
const pnpmWorkspace = `allowBuilds:
${Object.keys(allowScripts)
  .map((name) => `  '${name}': false\n`)
  .join('')}`;

const npm: PackageManager = { name: 'npm', install: 'npm install', run: 'npm run', exec: 'npx', files: {} };

const managers: readonly PackageManager[] = [
  npm,
  {
    name: 'pnpm',
    install: 'pnpm install',
    run: 'pnpm run',
    exec: 'pnpm exec',
    files: { 'pnpm-workspace.yaml': pnpmWorkspace },
  },
  {
    name: 'yarn',
    install: 'yarn install',
    run: 'yarn run',
    exec: 'yarn',
    // Yarn 2 and later otherwise install packages as archives, which the compiler and the bundler do not read.
    files: { '.yarnrc.yml': 'nodeLinker: node-modules\n' },
  },
  { name: 'bun', install: 'bun install', run: 'bun run', exec: 'bunx', files: {} },
];

/**
 * The package manager that started this process; npm if it is unknown.
 *
 * @param userAgent `npm_config_user_agent`, such as `pnpm/11.2.0 npm/? node/v24.21.0 linux x64`
 */
export function packageManagerOf(userAgent = ''): PackageManager {
  const [name] = userAgent.split('/');
  return managers.find((manager) => manager.name === name) ?? npm;
}

/** The command that changes to the folder of a project, as a list that is empty for the current folder. */
export function changeFolder(dir: string): readonly string[] {
  if (dir === '.') return [];
  const isPlain = /^[\w./@-]+$/.test(dir);
  return [`cd ${isPlain ? dir : `'${dir.replaceAll("'", String.raw`'\''`)}'`}`];
}

/** Starts the first run of a first project and waits for it. */
export const firstTrigger = (exec: string): string =>
  `${exec} millrace trigger hello --payload '{"name":"Ada"}' --wait`;
