/** Servers and runners of several versions on one database, in separate processes. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished, millrace, repository, type Ready, type Running } from '../cli/command.ts';
import type { Release } from './release.ts';
import { tasks } from './work.ts';

/** The packages of this checkout. */
export const present: Release = {
  nodeModules: join(repository, 'node_modules'),
  bin: join(repository, 'packages/millrace/bin/millrace.js'),
};

type Env = Readonly<Record<string, string>>;

export interface Installation {
  readonly folder: string;
  /** Runs a command of a version to its end. Paths are relative to the installation folder. */
  run(release: Release, args: readonly string[], env?: Env): ReturnType<typeof finished>;
  /** Starts a server; resolves when it serves. */
  serve(release: Release, args: readonly string[], env?: Env): Promise<Running & { readonly ready: Ready }>;
  /** Starts a runner of deployed versions; resolves when it is connected. */
  work(release: Release, url: string, secretKey: string): Promise<Running>;
  /** Deploys tasks, by default those of work.ts, built with the command and the SDK of a version, and makes them current. */
  deploy(release: Release, url: string, secretKey: string, source?: string): Promise<void>;
  end(): Promise<void>;
}

export async function startInstallation(): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-upgrade-'));
  const started: Running[] = [];
  let projects = 0;
  const begin = (release: Release, args: readonly string[], env: Env = {}): Running => {
    const running = millrace(args, { cwd: folder, env, bin: release.bin });
    started.push(running);
    return running;
  };
  return {
    folder,
    run: (release, args, env = {}) => finished(args, { cwd: folder, env, bin: release.bin }),
    async serve(release, args, env) {
      const running = begin(release, ['start', '--port', '0', '--json', '--show-secrets', ...args], env);
      const line = await running.line(/^\{"url"/);
      return Object.assign(running, { ready: JSON.parse(line) as Ready });
    },
    async work(release, url, secretKey) {
      const cache = join(folder, `cache-${started.length}`);
      const args = ['work', '--env', 'prod', '--json', '--cache', cache];
      const runner = begin(release, args, { MILLRACE_API_URL: url, MILLRACE_SECRET_KEY: secretKey });
      await runner.line(/^\{"runner"/);
      return runner;
    },
    async deploy(release, url, secretKey, source = tasks) {
      projects += 1;
      const project = join(folder, `project-${projects}`);
      await mkdir(join(project, 'tasks'), { recursive: true });
      await writeFile(join(project, 'package.json'), '{ "name": "shop", "type": "module", "private": true }');
      // Its content differs from the previous project, so that it is another version.
      await writeFile(
        join(project, 'tasks/work.ts'),
        `${source}\nexport const release${projects} = task({ id: 'release-${projects}', run: async () => ${projects} });\n`,
      );
      await symlink(release.nodeModules, join(project, 'node_modules'));
      const args = ['deploy', '--env', 'prod', '--json', '--url', url, '--key', secretKey];
      const { exitCode, stdout, stderr } = await finished(args, { cwd: project, bin: release.bin });
      if (exitCode !== 0) throw new Error(`deploy: ${stdout}\n${stderr}`);
    },
    async end() {
      for (const process of started) process.kill('SIGKILL');
      await Promise.all(started.map((process) => process.exitCode));
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
