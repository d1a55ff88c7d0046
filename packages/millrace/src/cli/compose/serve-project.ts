import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { EnvironmentKind } from '@millrace/contract';
import { createLog, loadMasterKey, type Credentials } from '@millrace/server';
import { describeProblem } from '@millrace/diagnostics';
import type { Runner } from '@millrace/runner';
import { version } from '@millrace/platform';
import { localBuildIn } from '../../bundle/local-build.ts';
import { deploymentRefusals } from '../../deploy/refusals.ts';
import type { Project } from '../../project/load.ts';
import { publishedLines } from './published-lines.ts';
import { startRunner } from '../../serve-folder/start.ts';
import { startWatcher } from '../../serve-folder/watch.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import type { Connection, OwnedDev } from '../running-dev.ts';
import { printJson, screenOn, type Screen, withTimes } from '../screen.ts';
import type { StopRequest } from '../stop-request.ts';
import { waitsFor } from '../waiting.ts';
import type { Cleanup } from './cleanup.ts';
import { credentialsJson, printCredentials } from './credentials.ts';
import { dashboardAddress } from './dashboard-address.ts';
import { projectVariables, type ProjectVariables } from './dotenv.ts';
import { serveKeyChanges } from './key-changes.ts';
import type { OpenDatabase } from './open-database.ts';
import { openServer } from './open-server.ts';
import { runnerScreen } from './runner-screen.ts';
import { printWarnings } from './print-warnings.ts';

export interface ServeOptions {
  /** 0 means any free port. */
  readonly port: number;
  readonly env: EnvironmentKind;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly raw?: boolean;
  readonly verbose?: boolean;
}

export interface ServedProject {
  readonly options: ServeOptions;
  readonly project: Project;
  readonly owned: OwnedDev;
  /** The data folder. */
  readonly data: string;
  readonly opened: OpenDatabase;
  readonly screen: Screen;
  readonly stop: StopRequest;
  readonly cleanup: Cleanup;
  readonly onServed: (connection: Connection) => Promise<void>;
}

/** Serves a project on a running database, until stopped. */
export async function serveProject({
  options,
  project,
  owned,
  data,
  opened: { database, lost },
  screen,
  stop,
  cleanup,
  onServed,
}: ServedProject): Promise<void> {
  const { dir, published } = project;
  const env = process.env['MILLRACE_MASTER_KEY'];
  const file = join(data, 'master.key');
  const masterKey = await loadMasterKey({
    env,
    previous: process.env['MILLRACE_MASTER_KEY_PREVIOUS'],
    file,
  });
  const log = options.verbose
    ? createLog({ write: (text) => screenOn(process.stderr).text(text.trimEnd()) })
    : createLog(printWarnings(screen, stop), 'warn');
  // In development, receivers of notifications may be on this machine.
  const notificationNetworks = ['127.0.0.0/8', '::1/128'];
  waitsFor('the server to prepare the database and to listen');
  const server = await openServer({
    database,
    port: options.port,
    masterKey,
    log,
    reveal: true,
    notificationNetworks,
    // The versions that the runner below registers exist only in this folder.
    localBuild: localBuildIn(dir),
  });
  cleanup.add(() => server.close());
  if (!env?.trim()) serveKeyChanges({ database, masterKey, file, log }, cleanup);
  const { url, credentials } = server;
  const secretKey = credentials?.environments[options.env].secretKey;
  if (!credentials || !secretKey) {
    throw new CommandFailed(
      exitCodes.cannotStart,
      `The secret key of ${options.env} from the first start of this data folder is revoked. Choose another folder with --data.`,
    );
  }
  screen.line(`${screen.paint.bold('Millrace')} ${version} at ${screen.paint.cyan(url)}`);
  // With --json, that line contains the keys. Keys are not printed if the output is not a terminal, because it may be stored.
  if (!options.json && !options.quiet) {
    screen.line(`The dashboard is at ${await dashboardAddress(url, credentials)}`);
    printIntroduction(screen, url, process.stdout.isTTY ? credentials : undefined);
  }
  const timed = withTimes(screen);
  const variables = await projectVariables(dir);
  if (variables.summary !== undefined) timed.line(`${screen.paint.cyan('env')}     ${variables.summary}`);
  if (published)
    for (const text of publishedLines(published)) timed.line(`${screen.paint.cyan('moved')}   ${text}`);
  waitsFor('the first version: the task files are bundled and imported');
  const runner = startRunner({
    url,
    secretKey,
    projectDir: dir,
    watch: true,
    env: variables.env,
    events: runnerScreen(timed, {
      quiet: options.quiet ?? false,
      raw: options.raw ?? false,
      json: options.json ?? false,
    }),
  }).catch(notStarted);
  cleanup.add(async () => {
    // Also applies if it is stopped before the first version is ready.
    const started = await Promise.race([
      runner.catch(() => undefined),
      setTimeout(2_000, undefined, { ref: false }),
    ]);
    await started?.stop({ waitMs: 5_000 });
  });
  const ready = await Promise.race([runner, stop.requested, lost]);
  waitsFor();
  if (!ready) return;
  await followVariables(dir, variables, ready, timed, cleanup);
  // It takes a second of CPU time, so the first version goes first.
  if (published) void printRefusals(project, timed);
  const connection = { url, key: secretKey };
  await owned.remember({ ...connection, token: credentials.personalAccessToken ?? null });
  if (options.json) printJson(credentialsJson(url, credentials));
  await onServed(connection);
  await Promise.race([stop.requested, lost, ready.ended.then(refused)]);
}

/**
 * Prints problems for which `millrace deploy` would reject a project that is served here. The runner has already reported those of its
 * tasks.
 */
async function printRefusals(project: Project, { text, paint }: Screen): Promise<void> {
  const problems = await deploymentRefusals(project).catch((error: unknown) => [
    { file: project.dir, line: null, column: null, message: String(error) },
  ]);
  for (const problem of problems)
    text(`${paint.yellow('deploy')}  \`millrace deploy\` rejects this project: ${describeProblem(problem)}`);
}

/** Applies a changed `.env`. Running attempts finish with the old variables. */
async function followVariables(
  dir: string,
  first: ProjectVariables,
  runner: Runner,
  { line, paint }: Screen,
  cleanup: Cleanup,
): Promise<void> {
  let last = first;
  const reload = async (): Promise<void> => {
    const now = await projectVariables(dir);
    if (isDeepStrictEqual(now, last)) return;
    last = now;
    line(`${paint.cyan('env')}     ${now.summary ?? '.env was removed'}`);
    runner.changeEnv(now.env);
  };
  // Serialized, so that an older text never replaces a newer one.
  let looking = Promise.resolve();
  const lookNext = (): Promise<void> => (looking = looking.then(reload));
  const watcher = await startWatcher(() => void lookNext());
  cleanup.add(() => watcher.close());
  await watcher.watch([join(dir, '.env')]);
  // The file may have changed before it was watched.
  await lookNext();
}

function printIntroduction({ line, paint }: Screen, url: string, credentials: Credentials | undefined): void {
  if (credentials) printCredentials(credentials, { line, paint });
  else line(paint.dim('Keys are printed only on a terminal or with --json.'));
  line(
    paint.dim(`The API is described at ${url}/reference. Save a task file for a new version. Ctrl-C stops.`),
  );
  line();
}

/** Keeps a ProjectError; other errors become a one-sentence message. */
function notStarted(error: Error): never {
  if (error.name === 'ProjectError') throw error;
  throw new CommandFailed(exitCodes.failed, `The runner has not started: ${error.message}`);
}

function refused(error: Error | null): void {
  if (error) throw new CommandFailed(exitCodes.failed, `The runner has ended: ${error.message}`);
}
