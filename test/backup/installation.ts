/** An installation on an embedded PostgreSQL whose WAL is archived, in separate processes, to be destroyed and restored. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runningConnection } from '../../packages/postgres/src/cluster/running.ts';
import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { finished, millrace, temporaryProject, type Ready, type Running } from '../cli/command.ts';
import { promote } from '../support/promote.ts';

const tasks = `
import { access } from 'node:fs/promises';
import { schedules, task } from '@millrace/sdk';
const there = (file: string) => access(file).then(() => true, () => false);
export const quick = task({ id: 'quick', run: async (payload: { n: number }) => payload.n });
export const hold = task({
  id: 'hold',
  run: async (payload: { until: string }) => {
    while (!(await there(payload.until))) await new Promise((done) => setTimeout(done, 20));
    return 'held';
  },
});
export const open = task({ id: 'open', run: async () => process.env['PASSWORD'] === 'open sesame' });
export const tick = schedules.task({ id: 'tick', run: async () => 'tock' });
`;

export interface RunMessage {
  readonly id: string;
  readonly status: string;
  readonly output?: unknown;
}

export interface Installation {
  readonly folder: string;
  readonly ready: Ready;
  readonly server: Running;
  /** Runs a command in the project folder. */
  run(...args: readonly string[]): ReturnType<typeof finished>;
  /** Starts a server on a data folder, on the port of the first one unless another is named. */
  serve(
    data: string,
    options?: { readonly port?: string; readonly args?: readonly string[] },
  ): Promise<Running>;
  /** Starts a runner that serves the tasks. */
  work(): Promise<Running>;
  trigger(task: string, payload?: unknown, options?: object): Promise<{ id: string; isCached: boolean }>;
  retrieve(run: string, url?: string): Promise<RunMessage | undefined>;
  /** Runs `act` with the database of a running server's data folder. */
  query<R>(data: string, act: (sql: Sql) => Promise<R>): Promise<R>;
  end(): Promise<void>;
}

export async function startInstallation(): Promise<Installation> {
  const project = await temporaryProject({ 'tasks/test.ts': tasks });
  const cwd = project.path;
  const started: Running[] = [];
  const begin = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Running => {
    const running = millrace(args, { cwd, env });
    started.push(running);
    return running;
  };
  const serve: Installation['serve'] = async (data, { port = '0', args = [] } = {}) => {
    const server = begin(['start', '--data', data, '--port', port, '--json', '--show-secrets', ...args]);
    await server.line(/^\{"url"/);
    return server;
  };
  const server = await serve('data', { args: ['--backups', 'backups'] });
  const ready = JSON.parse(server.stdout[0] ?? '') as Ready;
  const { url, environments } = ready;
  const key = environments.prod.secretKey;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return {
    folder: cwd,
    ready,
    server,
    run: (...args) => finished(args, { cwd }),
    serve: (data, options) => serve(data, { port: new URL(url).port, ...options }),
    async work() {
      const runner = begin(['work', '--env', 'prod', '--json'], {
        MILLRACE_API_URL: url,
        MILLRACE_SECRET_KEY: key,
      });
      await runner.line(/^\{"runner"/);
      await promote(url, key);
      return runner;
    },
    async trigger(task, payload = null, options = {}) {
      const body = JSON.stringify({ payload, options });
      const response = await fetch(`${url}/api/v1/tasks/${task}/trigger`, { method: 'POST', headers, body });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as { id: string; isCached: boolean };
    },
    async retrieve(run, at = url) {
      const response = await fetch(`${at}/api/v3/runs/${run}`, { headers });
      if (response.status === 404) return undefined;
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as RunMessage;
    },
    async query(data, act) {
      const database = await runningConnection(join(cwd, data));
      if (!database) throw new Error(`no server runs on ${data}`);
      const sql = connect(database, { name: 'test', max: 1 });
      return act(sql).finally(() => sql.end());
    },
    async end() {
      for (const process of started) process.kill('SIGKILL');
      await Promise.all(started.map((process) => process.exitCode));
      await project.remove();
    },
  };
}

/** The archived WAL segments. */
export const archivedSegments = async (backups: string): Promise<string[]> =>
  (await readdir(join(backups, 'wal'))).filter((name) => /^[0-9A-F]{24}\.gz$/.test(name)).toSorted();
