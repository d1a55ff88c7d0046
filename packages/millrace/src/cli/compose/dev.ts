import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { EnvironmentKind } from '@millrace/contract';
import { createLog, loadMasterKey, type Credentials } from '@millrace/server';
import { loadProject } from '../../project/index.ts';
import { startRunner } from '../../runner/start.ts';
import { rememberDev } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn, type Screen } from '../screen.ts';
import { listenForStop, type StopRequest } from '../stop-request.ts';
import { version } from '../version.ts';
import { withClosing } from './closing.ts';
import { credentialsJson, printCredentials } from './credentials.ts';
import { serveKeyChanges } from './key-changes.ts';
import { embeddedDatabase } from './open-database.ts';
import { openServer } from './open-server.ts';
import { runnerScreen } from './runner-screen.ts';

export interface DevOptions {
  readonly dir: string;
  readonly port: number;
  readonly data?: string;
  readonly env: EnvironmentKind;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Database, server, watcher and runner in this process, for the project in a folder. Ends when asked to stop. */
export async function dev(options: DevOptions): Promise<void> {
  const screen = screenOn(options.json ? process.stderr : process.stdout);
  const stop = listenForStop(() => screen.line('Stopping. Ctrl-C again stops at once.'));
  await withClosing(async (closing) => {
    // A project that cannot be served is said before anything is started or written.
    const { dir } = await loadProject(options.dir);
    const data = resolve(options.data ?? join(dir, '.millrace', 'data'));
    const onLog = options.verbose ? (line: string) => void process.stderr.write(`${line}\n`) : undefined;
    const { database, lost } = await embeddedDatabase(data, closing, onLog);
    const env = process.env['MILLRACE_MASTER_KEY'];
    const file = join(data, 'master.key');
    const masterKey = await loadMasterKey({
      env,
      previous: process.env['MILLRACE_MASTER_KEY_PREVIOUS'],
      file,
    });
    const log = options.verbose ? createLog() : createLog(troublesOn(screen, stop), 'warn');
    // Receivers of notifications are on this machine too.
    const notificationNetworks = ['127.0.0.0/8', '::1/128'];
    const server = await openServer({
      database,
      port: options.port,
      masterKey,
      log,
      reveal: true,
      notificationNetworks,
    });
    closing.add(() => server.close());
    if (!env?.trim()) serveKeyChanges({ database, masterKey, file, log }, closing);
    const { url, credentials } = server;
    const secretKey = credentials?.environments[options.env].secretKey;
    if (!credentials || !secretKey) {
      throw new CommandFailed(
        exitCodes.cannotStart,
        `The secret key of ${options.env} that this data folder was made with is revoked. Choose another folder with --data.`,
      );
    }
    screen.line(`${screen.paint.bold('Millrace')} ${version} at ${screen.paint.cyan(url)}`);
    // With --json the keys are in that line. What is no terminal is kept by somebody: they are not shown there.
    if (!options.json && !options.quiet) greet(screen, url, process.stdout.isTTY ? credentials : undefined);
    const runner = startRunner({
      url,
      secretKey,
      projectDir: dir,
      watch: true,
      events: runnerScreen(screen, { quiet: options.quiet ?? false }),
    });
    closing.add(async () => {
      // Also when the stop is asked for before the first version is there: then it is not waited for long.
      const started = await Promise.race([
        runner.catch(() => undefined),
        setTimeout(2_000, undefined, { ref: false }),
      ]);
      await started?.stop({ waitMs: 5_000 });
    });
    const ready = await Promise.race([runner, stop.requested, lost]);
    if (!ready) return;
    const forget = await rememberDev(dir, { url, key: secretKey });
    closing.add(forget);
    if (options.json) printJson(credentialsJson(url, credentials));
    await Promise.race([stop.requested, lost, ready.ended.then(refused)]);
  });
}

function greet({ line, paint }: Screen, url: string, credentials: Credentials | undefined): void {
  if (credentials) printCredentials(credentials, { line, paint });
  else line(paint.dim('Keys are shown on a terminal, and with --json.'));
  line(
    paint.dim(`The API is described at ${url}/reference. Save a task file for a new version. Ctrl-C stops.`),
  );
  line();
}

function refused(error: Error | null): void {
  if (error) throw new CommandFailed(exitCodes.failed, `The runner has ended: ${error.message}`);
}

/** The server's warnings and errors, a line each, for a person. */
function troublesOn({ line, paint }: Screen, stop: StopRequest) {
  let stopping = false;
  void stop.requested.then(() => (stopping = true));
  return {
    write(text: string): void {
      // That the runner goes is no news then.
      if (stopping) return;
      const { fact, level, ...fields } = JSON.parse(text) as {
        fact: string;
        level: string;
        time: string;
        err?: { message?: string };
      };
      const message = fields.err?.message ?? JSON.stringify({ ...fields, time: undefined });
      line(`${level === 'error' ? paint.red('server') : paint.yellow('server')}  ${fact} ${message}`);
    },
  };
}
