import type { EnvironmentKind } from '@millrace/contract';
import { startRunner } from '../../runner/start.ts';
import { findServer } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';
import { waitsFor } from '../waiting.ts';
import { withClosing } from './closing.ts';
import { runnerScreen } from './runner-screen.ts';

export interface WorkOptions {
  readonly env?: EnvironmentKind;
  readonly url?: string;
  readonly key?: string;
  readonly dir: string;
  readonly concurrency: number;
  readonly json?: boolean;
}

/** What runs may take to finish once the runner is asked to stop; then they are run elsewhere. */
const finishMs = 30_000;

/** Serves the tasks of a folder until asked to stop. */
export async function work(options: WorkOptions): Promise<void> {
  const { url, key } = await findServer(options);
  if (options.env !== undefined) refuseOtherKey(key, options.env);
  const screen = screenOn(options.json ? process.stderr : process.stdout);
  const stop = listenForStop(() =>
    screen.line('Stopping when the runs under way are done. Ctrl-C again stops at once.'),
  );
  await withClosing(async (closing) => {
    const starting = startRunner({
      url,
      secretKey: key,
      projectDir: options.dir,
      watch: false,
      concurrency: options.concurrency,
      events: runnerScreen(screen, { quiet: false }),
    }).catch(refused);
    const runner = await Promise.race([starting, stop.requested]);
    waitsFor();
    // Asked to stop while it waits for a server: there is nothing to finish, and nothing to wait for.
    if (!runner) return;
    closing.add(() => runner.stop({ waitMs: finishMs }));
    if (options.json) printJson({ runner: runner.id, version: runner.version });
    const end = await Promise.race([stop.requested, runner.ended]);
    if (end) refused(end);
  });
}

function refused(error: Error): never {
  if (error.name === 'ProjectError') throw error;
  throw new CommandFailed(exitCodes.cannotReach, error.message);
}

const marker = /^(?:svc|tr)_(dev|stg|prod|preview)_/;

/** A key says which environment it is for; one for another would have the tasks run where nobody expects it. */
function refuseOtherKey(key: string, env: EnvironmentKind): void {
  const of = marker.exec(key)?.[1];
  if (of === undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      'The key is not a secret key (svc_<env>_sk_…) of an environment.',
    );
  }
  if (of !== env) {
    throw new CommandFailed(
      exitCodes.usage,
      `The key is one of ${of}, but --env says ${env}. Give the key of ${env}.`,
    );
  }
}
