import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { EnvironmentKind } from '@millrace/contract';
import {
  readOutsideVariables,
  type Runner,
  type RunnerEvents,
  type RunnerOptions,
  startPreviews,
  startRunner,
  VariablesUnread,
} from '@millrace/runner';
import { configFiles } from '../../project/config-files.ts';
import { findServer } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { isPreviewKey } from '../key-environment.ts';
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
  readonly dir?: string;
  /** A preview branch. */
  readonly branch?: string;
  readonly label: readonly string[];
  readonly cache?: string;
  /** Bytes. */
  readonly cacheSize: number;
  readonly concurrency: number;
  /** Milliseconds. */
  readonly grace: number;
  readonly healthPort?: ListenAddress;
  readonly logLevel: LogLevel;
  readonly runAs?: string;
  readonly variablesDir?: string;
  readonly variablesCommand?: string;
  readonly variablesHook?: string;
  /** Milliseconds. */
  readonly variablesRefresh: number;
  readonly json?: boolean;
}

/** Serves deployed versions, and the tasks of a folder if there is a project, until stopped. */
export async function work(options: WorkOptions): Promise<void> {
  const { url, key } = await findServer({ ...options, dir: options.dir ?? '.' });
  const isPreview = isPreviewKey(key);
  if (options.branch !== undefined && !isPreview)
    throw new CommandFailed(exitCodes.usage, '--branch requires a preview secret key.');
  const servesAll = isPreview && options.branch === undefined;
  if (servesAll && options.dir !== undefined)
    throw new CommandFailed(
      exitCodes.usage,
      'With a preview key, --dir requires --branch: the tasks of a folder are registered in one branch.',
    );
  const projectDir = options.dir ?? (isProject('.') && !servesAll ? '.' : undefined);
  const output = workOutput(options.logLevel);
  // If stderr is not a terminal, its lines are JSON and include the state of the connection.
  const showWaiting = process.stderr.isTTY ? waitsFor : () => {};
  showWaiting(`${url} to answer`, 3_000);
  let stopping = false;
  let connected = false;
  let serving: Pick<Runner, 'loading' | 'stopNow'> | undefined;
  const onStop = (): void => {
    stopping = true;
    output.stopping(options.grace);
  };
  const stop = listenForStop(
    onStop,
    // Until it is serving, there is nothing to return.
    () => void serving?.stopNow(),
  );
  const notReady = (): string | undefined => {
    if (stopping) return 'It is stopping';
    if (!connected) return 'It is not connected to the server';
    if (!serving) return 'It has not registered the tasks of its folder yet';
    const loading = serving.loading();
    return loading.length > 0 ? `It is loading ${loading.join(', ')}` : undefined;
  };
  await withCleanup(async (cleanup) => {
    cleanup.add(async () => output.end());
    if (options.healthPort) {
      const health = await serveHealth(options.healthPort, notReady);
      cleanup.add(health.close);
    }
    const outside = await readVariables(options, output.unread);
    cleanup.add(async () => outside?.close());
    const runnerOptions = {
      url,
      outside,
      secretKey: key,
      cache: { folder: options.cache ?? cacheFolder(), size: options.cacheSize },
      labels: options.label,
      stopMs: options.grace,
      concurrency: options.concurrency,
      ...(options.runAs !== undefined && { runAs: options.runAs }),
    };
    const events: RunnerEvents = {
      ...output.events,
      onState: (state, detail) => {
        if (state !== 'connecting') connected = state === 'connected';
        if (connected && !serving && projectDir !== undefined)
          showWaiting('the first version: the task files are bundled and imported');
        output.events.onState?.(state, detail);
      },
      onStopRequested: onStop,
    };
    const starting = (
      servesAll
        ? startPreviews({ ...runnerOptions, ...output.previews, events })
        : startOne({ ...runnerOptions, branch: options.branch, events }, projectDir)
    ).catch(refused);
    const runner = await Promise.race([starting, stop.requested]);
    waitsFor();
    // Stopped while waiting for a server, so there is nothing to finish.
    if (!runner) return;
    serving = runner;
    cleanup.add(() => runner.stop({ waitMs: options.grace }));
    output.started(runner.id, runner.version, servesAll);
    if (options.json) printJson({ runner: runner.id, version: runner.version });
    const end = await Promise.race([stop.requested, runner.ended]);
    if (end) refused(end);
  });
}

/** A runner that only executes deployed versions does not load the bundler. */
async function startOne(options: RunnerOptions, projectDir: string | undefined): Promise<Runner> {
  if (projectDir === undefined) return startRunner(options);
  const { openFolder } = await import('../../serve-folder/open.ts');
  return startRunner({
    ...options,
    folder: await openFolder({ projectDir, watch: false, isStrict: true }),
  });
}

/** Undefined if none are read from other sources. */
async function readVariables(
  {
    variablesDir: folder,
    variablesCommand: command,
    variablesHook: hook,
    variablesRefresh: refreshMs,
  }: WorkOptions,
  onProblem: (sentence: string) => void,
) {
  if (folder === undefined && command === undefined && hook === undefined) return undefined;
  return readOutsideVariables({ folder, command, hook, refreshMs }, onProblem).catch((error: unknown) => {
    throw error instanceof VariablesUnread ? new CommandFailed(exitCodes.cannotStart, error.message) : error;
  });
}

function refused(error: Error): never {
  if (['ProjectError', 'ProjectRefused', 'FolderRefused'].includes(error.name)) throw error;
  if (error.name === 'RunAsError') throw new CommandFailed(exitCodes.cannotStart, error.message);
  throw new CommandFailed(exitCodes.cannotReach, error.message);
}

/** Whether a folder has tasks: a configuration, or the default task folder. */
const isProject = (folder: string): boolean =>
  ['tasks', ...configFiles].some((name) => existsSync(join(folder, name)));

const cacheFolder = (): string =>
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'millrace');
