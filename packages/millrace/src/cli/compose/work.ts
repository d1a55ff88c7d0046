import type { EnvironmentKind } from '@millrace/contract';
import type { Runner } from '../../runner/options.ts';
import { startRunner } from '../../runner/start.ts';
import { findServer } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import type { ListenAddress } from '../options.ts';
import { printJson } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';
import { waitsFor } from '../waiting.ts';
import { withCleanup } from './cleanup.ts';
import { serveHealth } from './health.ts';
import { workOutput, type LogLevel } from './work-output.ts';

export interface WorkOptions {
  readonly env?: EnvironmentKind;
  readonly url?: string;
  readonly key?: string;
  readonly dir: string;
  readonly concurrency: number;
  /** Milliseconds. */
  readonly grace: number;
  readonly healthPort?: ListenAddress;
  readonly logLevel: LogLevel;
  readonly runAs?: string;
  readonly json?: boolean;
}

/** Runs the tasks of a folder until asked to stop. */
export async function work(options: WorkOptions): Promise<void> {
  const { url, key } = await findServer(options);
  if (options.env !== undefined) refuseOtherKey(key, options.env);
  const output = workOutput(options.logLevel);
  // If stderr is not a terminal, its lines are JSON and include the state of the connection.
  const tellWaiting = process.stderr.isTTY ? waitsFor : () => {};
  tellWaiting(`${url} to answer`, 3_000);
  let stopping = false;
  let connected = false;
  let version = '';
  let serving: Runner | undefined;
  const stop = listenForStop(
    () => {
      stopping = true;
      output.stopping(options.grace);
    },
    // Until it serves, there is nothing to give back.
    () => void serving?.stopNow(),
  );
  const notReady = (): string | undefined => {
    if (stopping) return 'It is stopping';
    if (!connected) return 'It is not connected to the server';
    return version === '' ? 'It has no version of the tasks yet' : undefined;
  };
  await withCleanup(async (cleanup) => {
    cleanup.add(async () => output.end());
    if (options.healthPort) {
      const health = await serveHealth(options.healthPort, notReady);
      cleanup.add(health.close);
    }
    const starting = startRunner({
      url,
      secretKey: key,
      projectDir: options.dir,
      watch: false,
      concurrency: options.concurrency,
      ...(options.runAs !== undefined && { runAs: options.runAs }),
      events: {
        ...output.events,
        onState: (state, detail) => {
          if (state !== 'connecting') connected = state === 'connected';
          if (connected && version === '')
            tellWaiting('the first version: the task files are bundled and imported');
          output.events.onState?.(state, detail);
        },
        onVersion: (event) => {
          ({ version } = event);
          output.events.onVersion?.(event);
        },
      },
    }).catch(refused);
    const runner = await Promise.race([starting, stop.requested]);
    waitsFor();
    // Stopped while waiting for a server: there is nothing to finish.
    if (!runner) return;
    serving = runner;
    cleanup.add(() => runner.stop({ waitMs: options.grace }));
    output.started(runner.id, runner.version);
    if (options.json) printJson({ runner: runner.id, version: runner.version });
    const end = await Promise.race([stop.requested, runner.ended]);
    if (end) refused(end);
  });
}

function refused(error: Error): never {
  if (error.name === 'ProjectError') throw error;
  if (error.name === 'RunAsError') throw new CommandFailed(exitCodes.cannotStart, error.message);
  throw new CommandFailed(exitCodes.cannotReach, error.message);
}

const marker = /^(?:svc|tr)_(dev|stg|prod|preview)_/;

/** Checks that the key belongs to the environment in --env, so that tasks do not run in another one by mistake. */
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
      `The key belongs to ${of}, but --env says ${env}. Give the key of ${env}.`,
    );
  }
}
