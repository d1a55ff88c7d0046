import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFinal } from '@millrace/contract';
import { prepare } from '../../packages/millrace/src/deploy/prepare.ts';
import { upload } from '../../packages/millrace/src/deploy/upload.ts';
import { loadProject } from '../../packages/millrace/src/project/load.ts';
import { startRunner } from '../../packages/millrace/src/serve-folder/start.ts';
import type { Problem } from '../../packages/diagnostics/src/problem.ts';
import { eventually } from '../support/eventually.ts';
import { promote } from '../support/promote.ts';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';

// oxlint-disable typescript/no-explicit-any -- the tests check the content of runs, lines and replies

/** `dev`: from its folder, in the development environment. `prod`: deployed, and downloaded by a runner without a folder. */
export type How = 'dev' | 'prod';

export interface Served {
  readonly server: SharedServer;
  /** The secret key of the environment. */
  readonly key: string;
  /** The problems of the project: tasks and files that cannot be served. */
  readonly problems: readonly Problem[];
  /** Triggers a task of the development environment and returns the run after it has ended. */
  readonly run: (task: string, payload?: unknown, options?: object) => Promise<any>;
  readonly trigger: (task: string, payload?: unknown, options?: object) => Promise<string>;
  /** Replays a run and returns the id of the new one. */
  readonly replay: (id: string) => Promise<string>;
  /** The run, after it has ended. */
  readonly ended: (id: string) => Promise<any>;
  readonly logs: (id: string) => Promise<any[]>;
  /** The lines of an ended run, once this many are stored, which is a moment after its end. */
  readonly allLogs: (id: string, count: number) => Promise<any[]>;
  /** A value of a run's metadata, once set. */
  readonly metadata: (id: string, key: string) => Promise<unknown>;
  readonly until: (isTrue: () => Promise<boolean>) => Promise<void>;
  /** Kills the runner in the middle of its runs and starts another one. */
  readonly restart: () => Promise<void>;
}

/** A new project on the server of this worker, and a real runner with executor processes that serves it. */
export async function serve(
  projectDir: string,
  how: How,
  onEnd: (end: () => Promise<void>) => void,
): Promise<Served> {
  const server = await sharedServer();
  const problems: Problem[] = [];
  const key = server.keys[how];
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'millrace-cache-')));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  if (how === 'prod') await deploy(projectDir, { url: server.url, key });
  const start = () =>
    startRunner({
      url: server.url,
      secretKey: key,
      watch: false,
      ...(how === 'dev' ? { projectDir } : { cache: { folder } }),
      events: {
        onProblem: (problem) => void problems.push(problem),
        onUnable: (_, why) => void problems.push({ file: 'bundle', line: null, column: null, message: why }),
      },
    });
  let runner = await start();
  if (how === 'prod') await promote(server.url, key);
  onEnd(() => runner.stop({ waitMs: 0 }));
  const until: Served['until'] = async (isTrue) => void (await eventually(isTrue, Boolean, 30_000));
  const retrieve = async (id: string): Promise<any> => (await server.ask(`/api/v3/runs/${id}`, { key })).body;
  const trigger: Served['trigger'] = async (task, payload, options) => {
    const body = { payload, options };
    const answer = await server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', key, body });
    if (answer.status !== 200) throw new Error(`${task}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.id as string;
  };
  const replay: Served['replay'] = async (id) => {
    const answer = await server.ask(`/api/v1/runs/${id}/replay`, { method: 'POST', key });
    if (answer.status !== 200) throw new Error(`${id}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.id as string;
  };
  const ended: Served['ended'] = async (id) => {
    await until(async () => isFinal((await retrieve(id)).status));
    return retrieve(id);
  };
  const logs: Served['logs'] = async (id) =>
    (await server.ask(`/api/v1/runs/${id}/logs`, { key })).body.lines as any[];
  return {
    server,
    key,
    problems,
    trigger,
    replay,
    ended,
    until,
    run: async (task, payload, options) => ended(await trigger(task, payload, options)),
    async allLogs(id, count) {
      await until(async () => (await logs(id)).length >= count);
      return logs(id);
    },
    logs,
    async metadata(id, name) {
      await until(async () => (await retrieve(id)).metadata?.[name] !== undefined);
      return (await retrieve(id)).metadata[name];
    },
    async restart() {
      await runner.stop({ waitMs: 0 });
      runner = await start();
    },
  };
}

async function deploy(
  projectDir: string,
  target: { readonly url: string; readonly key: string },
): Promise<void> {
  const env = { inherited: { PATH: process.env['PATH'] ?? '' }, added: { MILLRACE_API_URL: target.url } };
  const project = await loadProject(projectDir);
  const prepared = await prepare(project, { environment: async () => ({ env, secrets: [] }) });
  await upload(target, prepared, {});
}
