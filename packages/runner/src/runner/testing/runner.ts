import type { LogLine } from '@millrace/contract/runner';
import { onTestFinished } from 'vitest';
import type { Problem } from '../../../../diagnostics/src/problem.ts';
// Its task files are bundled as in `millrace dev`.
import { startRunner, type RunnerOptions } from '../../../../millrace/src/serve-folder/start.ts';
import type { Runner, VersionEvent } from '../options.ts';
import { Peer } from './peer.ts';
import { createProject } from './project.ts';
import type { TestProject } from './project.ts';

export interface TestRunner {
  readonly peer: Peer;
  readonly project: TestProject;
  readonly runner: Runner;
  readonly problems: Problem[];
  readonly versions: VersionEvent[];
  readonly echoed: LogLine[];
  readonly states: string[];
}

/** A runner that serves these task files to its own peer, until the test ends. */
export async function startTestRunner(
  files: Readonly<Record<string, string>>,
  options: Partial<RunnerOptions> = {},
  prepare: (peer: Peer) => void = () => undefined,
  prepareFolder: (dir: string) => Promise<void> = async () => undefined,
): Promise<TestRunner> {
  const peer = await new Peer().listen();
  prepare(peer);
  const project = await createProject(files);
  await prepareFolder(project.dir);
  const problems: Problem[] = [];
  const versions: VersionEvent[] = [];
  const echoed: LogLine[] = [];
  const states: string[] = [];
  const runner = await startRunner({
    url: peer.url,
    secretKey: peer.secretKey,
    projectDir: project.dir,
    watch: false,
    graceMs: 300,
    ...options,
    events: {
      onProblem: (problem) => problems.push(problem),
      onVersion: (version) => versions.push(version),
      onRunLog: (lines) => echoed.push(...lines),
      onState: (state) => states.push(state),
      ...options.events,
    },
  });
  onTestFinished(async () => {
    await runner.stop({ waitMs: 0 });
    await peer.close();
    await project.remove();
  });
  return { peer, project, runner, problems, versions, echoed, states };
}

/** A task file with these tasks; each is the body of an async `run(payload, { ctx, signal })`. */
export const tasksFile = (
  bodies: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string>> = {},
): string =>
  [
    "import { logger, task } from '@millrace/sdk';",
    "import { setTimeout as sleep } from 'node:timers/promises';",
    'void logger; void sleep;',
    ...Object.entries(bodies).map(
      ([id, body]) =>
        `export const ${id} = task({ id: '${id}', ${settings[id] ?? ''} run: async (payload: any, { ctx, signal }) => { ${body} } });`,
    ),
  ].join('\n');
