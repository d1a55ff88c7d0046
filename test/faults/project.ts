/** A server, runners and a database in separate processes, which tests kill. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { millrace, temporaryProject, type Running } from '../cli/command.ts';
import { giveServerData } from '../cli/first-data.ts';
import { promote } from '../support/promote.ts';

/** A task that records the process in which it starts, and ends when the file in its payload exists; and one that ends immediately. */
const tasks = `
import { task } from '@millrace/sdk';
import { access } from 'node:fs/promises';
const there = (file: string) => access(file).then(() => true, () => false);
export const hold = task({
  id: 'hold',
  run: async (payload: { until: string; value: string }) => {
    console.log(process.pid);
    while (!(await there(payload.until))) await new Promise((done) => setTimeout(done, 20));
    return payload.value;
  },
});
export const quick = task({ id: 'quick', run: async (payload: { n: number }) => payload.n });
`;

export interface Call {
  readonly method?: string;
  readonly body?: unknown;
}

export interface System {
  readonly folder: string;
  readonly server: Running;
  readonly url: string;
  readonly key: string;
  readonly port: string;
  call<T>(path: string, call?: Call): Promise<T>;
  /** The started runners. */
  readonly runners: readonly Running[];
  /** Starts a runner; resolves when it has registered and connected. */
  work(options?: { readonly concurrency?: number }): Promise<Running>;
  /** Starts the server again on its folder and its port. */
  restart(): Promise<Running>;
}

export async function startSystem(
  env: Readonly<Record<string, string>> = {},
  taskFile: string = tasks,
): Promise<System> {
  const project = await temporaryProject({ 'tasks/test.ts': taskFile });
  const started: Running[] = [];
  const runners: Running[] = [];
  const start = (port: string): Running => {
    const server = millrace(['start', '--data', 'data', '--port', port, '--json'], {
      cwd: project.path,
      env,
    });
    started.push(server);
    return server;
  };
  onTestFinished(async () => {
    for (const process of started) process.kill('SIGKILL');
    await Promise.all(started.map((process) => process.exitCode));
    await project.remove();
  });
  const { environments } = await giveServerData(join(project.path, 'data'));
  const server = start('0');
  const { url } = JSON.parse(await server.line(/^\{"url"/)) as { url: string };
  const key = environments.prod.secretKey;
  const { port } = new URL(url);
  return {
    folder: project.path,
    server,
    url,
    key,
    port,
    runners,
    async call<T>(path: string, { method = 'GET', body }: Call = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}` },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as T;
    },
    async work({ concurrency = 100 } = {}) {
      const runner = millrace(['work', '--env', 'prod', '--concurrency', String(concurrency), '--json'], {
        cwd: project.path,
        env: { ...env, MILLRACE_API_URL: url, MILLRACE_SECRET_KEY: key },
      });
      started.push(runner);
      runners.push(runner);
      await runner.line(/^\{"runner"/);
      await promote(url, key);
      return runner;
    },
    async restart() {
      const again = start(port);
      await again.line(/^\{"url"/);
      return again;
    },
  };
}

export interface RunMessage {
  readonly id: string;
  readonly status: string;
  readonly output?: unknown;
  readonly attemptCount: number;
  readonly startedAt?: string;
}
