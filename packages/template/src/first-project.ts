import { allowScripts } from './install-scripts.ts';
import { firstTrigger, type PackageManager } from './package-manager.ts';

/** All files of a first project in a new folder, by relative path. Pure. */
export function newProject(
  folderName: string,
  version: string,
  { run, exec, files }: PackageManager,
): Readonly<Record<string, string>> {
  const name = packageName(folderName);
  return {
    ...firstProject(name, version),
    ...files,
    'README.md': readme(name, {
      dev: `${run} dev`,
      deploy: `${run} deploy`,
      types: `${run} types`,
      exec,
      ignoresEnv: true,
    }),
  };
}

/** The files of a first project except its README, by relative path. Pure. */
export function firstProject(name: string, version: string): Readonly<Record<string, string>> {
  return {
    'millrace.config.ts': config,
    'tasks/hello.ts': helloTask,
    'package.json': `${JSON.stringify({ name, private: true, type: 'module', ...parts(version) }, null, 2)}\n`,
    'tsconfig.json': `${JSON.stringify(tsconfig, null, 2)}\n`,
    '.gitignore': gitignore,
  };
}

/** A valid npm package name, derived from the folder's name. */
export function packageName(folderName: string): string {
  const name = folderName
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '')
    .slice(0, 100);
  return name === '' ? 'tasks' : name;
}

const config = `import { defineConfig } from 'millrace';

export default defineConfig({
  // Every task file in these folders is watched, bundled and served.
  dirs: ['./tasks'],
});
`;

const helloTask = `import { logger, task } from '@millrace/sdk';

export const hello = task({
  id: 'hello',
  retry: { maxAttempts: 3 },
  run: async (payload: { name?: string } = {}, { ctx }) => {
    const name = payload.name ?? 'world';
    logger.info('Saying hello', { name, attempt: ctx.attempt.number });
    return { greeting: \`Hello, \${name}!\` };
  },
});
`;

/** The requirements of a Millrace project in its package.json. */
export const parts = (version: string) => ({
  scripts: { dev: 'millrace dev', deploy: 'millrace deploy --env prod', types: 'tsc' },
  dependencies: { '@millrace/sdk': `^${version}`, millrace: `^${version}` },
  devDependencies: { '@types/node': '^24.19.2', typescript: '^7.0.2' },
  allowScripts,
});

/** The same for a project for the published SDK: only the command. */
export const publishedParts = (version: string) => ({
  scripts: {},
  dependencies: {},
  devDependencies: { millrace: `^${version}` },
  allowScripts,
});

const gitignore = `node_modules/
.millrace/
# Variable values, including secrets. An example without values may be committed.
.env*
!.env.example
`;

/** The commands in the README, and whether the project has the `.gitignore` of a first project. */
export interface Commands {
  readonly dev: string;
  readonly deploy: string;
  readonly types: string;
  /** Runs a program of an installed package, such as `npx`. */
  readonly exec: string;
  readonly ignoresEnv: boolean;
}

export const readme = (name: string, { dev, deploy, types, exec, ignoresEnv }: Commands): string => `# ${name}

Background tasks, run by Millrace. Each file in \`tasks/\` exports its tasks.

- \`${dev}\` serves them on this machine; save a file for a new version.
- \`${firstTrigger(exec)}\`, in a second terminal, starts a run.
- \`${types}\` checks the types.
- \`.env\` holds variables for \`${dev}\`; ${ignoresEnv ? 'git ignores it' : 'keep it and `.millrace/` out of git'}.
- \`${deploy}\` deploys them, and \`${exec} millrace work\` runs the deployed versions (set MILLRACE_API_URL and MILLRACE_SECRET_KEY).
- \`${exec} millrace --help\` lists everything else.
`;

const tsconfig = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    skipLibCheck: true,
  },
  include: ['tasks', 'millrace.config.ts'],
};
