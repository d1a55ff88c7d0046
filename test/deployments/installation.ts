/** A server and runners in processes of their own, and projects that are deployed to it with the command. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { millrace, repository, type Running } from '../cli/command.ts';
import { giveServerData } from '../cli/first-data.ts';
import { finished } from '../cli/in-process.ts';

export interface Installation {
  readonly url: string;
  readonly projectRef: string;
  readonly personalAccessToken: string;
  /** Secret keys by environment. */
  readonly keys: Readonly<Record<'stg' | 'prod' | 'preview', string>>;
  readonly folder: string;
  stop(): Promise<void>;
}

async function temporaryFolder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), 'millrace-deploy-')));
}

export async function startInstallation(env: Readonly<Record<string, string>> = {}): Promise<Installation> {
  const folder = await temporaryFolder();
  const { projectRef, personalAccessToken, environments } = await giveServerData(join(folder, 'data'));
  const server = millrace(['start', '--data', 'data', '--port', '0', '--json'], { cwd: folder, env });
  const { url } = JSON.parse(await server.line(/^\{"url"/)) as { url: string };
  return {
    url,
    projectRef,
    personalAccessToken,
    keys: {
      stg: environments.stg.secretKey,
      prod: environments.prod.secretKey,
      preview: environments.preview.secretKey,
    },
    folder,
    async stop() {
      server.kill('SIGTERM');
      await server.exitCode;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A runner without a project. Resolves when it is connected; it is stopped when the test ends. */
export async function startFetchingRunner(installation: Installation, key: string): Promise<Running> {
  const cwd = await temporaryFolder();
  const runner = millrace(['work', '--json', '--cache', join(cwd, 'cache'), '--grace', '1s'], {
    cwd,
    env: { MILLRACE_API_URL: installation.url, MILLRACE_SECRET_KEY: key },
  });
  onTestFinished(async () => {
    runner.kill('SIGTERM');
    await runner.exitCode;
    await rm(cwd, { recursive: true, force: true, maxRetries: 5 });
  });
  await runner.line(/^\{"runner"/);
  return runner;
}

export interface DeployedProject {
  readonly dir: string;
  write(file: string, content: string | Uint8Array): Promise<void>;
  /** Runs a command in its folder; the last line of its JSON, if there is any. */
  run(...args: string[]): Promise<Ended>;
  /** Starts a command in its folder. */
  start(...args: string[]): Running;
}

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  // The output of a command has any shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

/** A project with the SDK installed in it, whose commands have an environment's key. */
export async function deployedProject(
  { url }: Pick<Installation, 'url'>,
  key: string,
  files: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Promise<DeployedProject> {
  const dir = await temporaryFolder();
  onTestFinished(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  await mkdir(join(dir, 'node_modules', '@millrace'), { recursive: true });
  await symlink(join(repository, 'packages/sdk'), join(dir, 'node_modules/@millrace/sdk'));
  const write = async (file: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await writeFile(join(dir, file), content);
  };
  for (const [file, content] of Object.entries(files)) await write(file, content);
  return { dir, write, ...commandsIn(dir, { MILLRACE_API_URL: url, MILLRACE_SECRET_KEY: key, ...more }) };
}

/** The command in a folder, with these variables. */
export const commandsIn = (
  dir: string,
  env: Readonly<Record<string, string>>,
): Pick<DeployedProject, 'run' | 'start'> => ({
  start: (...args) => millrace(args, { cwd: dir, env }),
  async run(...args) {
    const ended = await finished([...args, '--json'], { cwd: dir, env });
    const last = ended.stdout.split('\n').at(-1) ?? '';
    return { ...ended, json: last === '' ? undefined : JSON.parse(last) };
  },
});

export const taskFile = (id: string, result: string, before = ''): string =>
  `import { task } from '@millrace/sdk';\n${before}\nexport const one = task({ id: '${id}', run: async () => (${result}) });\n`;
