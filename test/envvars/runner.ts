import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { startRunner } from '../../packages/millrace/src/serve-folder/start.ts';
import type { VariableServer } from '../../packages/server/src/envvars/testing/variable-server.ts';
import { eventually } from '../support/eventually.ts';
import { promote } from '../support/promote.ts';

const sdk = fileURLToPath(new URL('../../packages/sdk', import.meta.url));

interface RunReply {
  readonly id: string;
  readonly status: string;
  readonly output?: unknown;
  readonly isCompleted: boolean;
  readonly isFailed: boolean;
  readonly variablesRevision?: number;
}

export interface Project {
  trigger(task: string, payload?: unknown): Promise<string>;
  /** The run after it has ended. */
  over(run: string): Promise<RunReply>;
  outcome(task: string, payload?: unknown): Promise<RunReply>;
}

/** A real runner with real executor processes that serves these files in prod. */
export async function runProject(
  served: VariableServer,
  files: Readonly<Record<string, string>>,
): Promise<Project> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'millrace-envvars-')));
  await mkdir(join(dir, 'node_modules', '@millrace'), { recursive: true });
  await symlink(sdk, join(dir, 'node_modules', '@millrace', 'sdk'));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await writeFile(join(dir, file), text);
  }
  const runner = await startRunner({
    url: served.server.url,
    secretKey: served.key('prod'),
    projectDir: dir,
    watch: false,
  });
  await promote(served.server.url, served.key('prod'), runner.version ?? undefined);
  onTestFinished(async () => {
    await runner.stop({ waitMs: 0 });
    await rm(dir, { recursive: true, force: true });
  });
  const trigger: Project['trigger'] = async (task, payload = {}) => {
    const { body } = await served.call('POST', `/api/v1/tasks/${task}/trigger`, { body: { payload } });
    return (body as { id: string }).id;
  };
  const over: Project['over'] = (id) =>
    eventually(
      async () =>
        (await served.call('GET', `/api/v3/runs/${id}`)).body as RunReply & { readonly finishedAt?: string },
      ({ finishedAt }) => finishedAt !== undefined,
      60_000,
    );
  return { trigger, over, outcome: async (task, payload) => over(await trigger(task, payload)) };
}
