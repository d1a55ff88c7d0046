import { join, resolve } from 'node:path';
import {
  createLog,
  loadMasterKey,
  readBootstrapSettings,
  type Credentials,
  type Log,
  type BootstrapSettings,
  type RunningServer,
} from '@millrace/server';
import { version } from '@millrace/platform';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { logLinesOn, printJson, screenOn } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';
import { type Cleanup, withCleanup } from './cleanup.ts';
import { credentialsJson, holdsSecrets, printCredentials, withoutProvided } from './credentials.ts';
import { foldJsonLines } from './fold-repeats.ts';
import { serveKeyChanges } from './key-changes.ts';
import { embeddedDatabase, externalDatabase, type OpenDatabase } from './open-database.ts';
import { openServer } from './open-server.ts';
import { writeSecretsFile } from './secrets-file.ts';

export interface StartOptions {
  readonly host: string;
  readonly port: number;
  readonly data?: string;
  readonly backups?: string;
  readonly directUrl?: string;
  readonly paused?: boolean;
  readonly masterKeyFile?: string;
  readonly logLevel: string;
  readonly secretsFile?: string;
  readonly showSecrets?: boolean;
  readonly json?: boolean;
}

/** Runs the production server until stopped: with the PostgreSQL of DATABASE_URL or an embedded one, without a watcher and a runner. */
export async function start(options: StartOptions): Promise<void> {
  const { host, port, data, json } = options;
  const paused = isPauseRequested(options);
  const stop = listenForStop();
  const provided = takeBootstrapSettings();
  const secretsFile = resolve(options.secretsFile ?? join(data ?? '', 'millrace-secrets.json'));
  // Output that does not go to a terminal may be stored, as in logs of containers, services and CI.
  const showSecrets = options.showSecrets ?? (process.stdout.isTTY && !json);
  const deliver = async (created: Credentials): Promise<void> => {
    const generated = withoutProvided(created, provided);
    if (!showSecrets && holdsSecrets(generated)) await writeSecretsFile(secretsFile, generated);
  };
  await withCleanup(async (cleanup) => {
    const folded = foldJsonLines(logLinesOn(process.stderr));
    cleanup.add(async () => folded.end());
    const log = createLog(folded, options.logLevel);
    const { database, directDatabase, lost } = await openDatabase(options, cleanup, warnUnarchived(log));
    const env = process.env['MILLRACE_MASTER_KEY'];
    const file =
      options.masterKeyFile ?? (data === undefined ? undefined : join(resolve(data), 'master.key'));
    const masterKey = await loadMasterKey({
      env,
      previous: process.env['MILLRACE_MASTER_KEY_PREVIOUS'],
      file,
    });
    const server = await openServer({
      database,
      directDatabase,
      host,
      port,
      masterKey,
      log,
      paused,
      bootstrap: { settings: provided, deliver },
    });
    cleanup.add(() => server.close());
    if (data !== undefined && file !== undefined && !env?.trim()) {
      serveKeyChanges({ database, masterKey, file, log }, cleanup);
    }
    printReady(server, { json, showSecrets, provided, secretsFile });
    await Promise.race([stop.requested, lost]);
  });
}

/** `--paused`, or MILLRACE_PAUSED. */
function isPauseRequested({ paused }: StartOptions): boolean {
  const text = process.env['MILLRACE_PAUSED']?.trim() ?? '';
  if (paused || text === '1' || text === 'true') return true;
  if (text === '' || text === '0' || text === 'false') return false;
  throw new CommandFailed(exitCodes.usage, 'MILLRACE_PAUSED must be 1 or 0.');
}

/** Logs that WAL could not be archived. PostgreSQL retries, and retains the WAL until it succeeds. */
const warnUnarchived =
  (log: Log) =>
  (line: string): void => {
    const [, reason] = /^LOG: +(archive command .*)/.exec(line) ?? [];
    if (reason !== undefined) log.warn('wal.unarchived', { reason });
  };

/** Removes the settings of the first start from the environment, so that child processes do not inherit them. */
function takeBootstrapSettings(): BootstrapSettings {
  const provided = readBootstrapSettings(process.env);
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('MILLRACE_BOOTSTRAP_')) delete process.env[name];
  }
  return provided;
}

interface ReadyOptions {
  readonly json: boolean | undefined;
  readonly showSecrets: boolean;
  readonly provided: BootstrapSettings;
  readonly secretsFile: string;
}

function printReady(
  { url, credentials, pausedSince }: RunningServer,
  { json, showSecrets, provided, secretsFile }: ReadyOptions,
): void {
  const generated = credentials && withoutProvided(credentials, provided);
  const isWritten = generated !== null && !showSecrets && holdsSecrets(generated);
  if (json) {
    printJson({
      ...(generated && showSecrets ? credentialsJson(url, generated) : { url }),
      ...(isWritten && { secretsFile }),
      ...(pausedSince && { paused: true, pausedAt: pausedSince.toISOString() }),
    });
    return;
  }
  const screen = screenOn(process.stdout);
  screen.line(`Millrace ${version} serves at ${url}`);
  if (pausedSince) {
    screen.line(
      `Paused since ${pausedSince.toISOString()}: no runs start and no schedules fire until \`millrace resume\`.`,
    );
  }
  if (isWritten) {
    screen.line(`The secrets of the first start are in ${secretsFile}, which only this user can read.`);
    screen.line('Store them in a safe place, then delete the file.');
  } else if (generated && holdsSecrets(generated)) {
    screen.line('These secrets are shown only this once. Store them in a safe place.');
    printCredentials(generated, screen);
  }
}

async function openDatabase(
  { data, backups, directUrl }: StartOptions,
  cleanup: Cleanup,
  onLog: (line: string) => void,
): Promise<OpenDatabase> {
  const url = process.env['DATABASE_URL']?.trim() || undefined;
  const direct = directUrl?.trim() || undefined;
  if (url !== undefined && data !== undefined) {
    throw new CommandFailed(exitCodes.usage, 'Both DATABASE_URL and --data are set. Use only one of them.');
  }
  if (data !== undefined && direct !== undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      'DATABASE_DIRECT_URL requires DATABASE_URL and cannot be combined with --data.',
    );
  }
  const archiveTo = backups?.trim() || undefined;
  if (data !== undefined) return embeddedDatabase(data, cleanup, { onLog, archiveTo });
  if (archiveTo !== undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      '--backups and MILLRACE_BACKUPS are for the embedded PostgreSQL (--data). Archive the WAL of an external one with its own tools. See: millrace help backup',
    );
  }
  if (url !== undefined) return externalDatabase(url, direct);
  throw new CommandFailed(
    exitCodes.usage,
    'No database. Set DATABASE_URL, or pass --data <folder> for the embedded PostgreSQL.',
  );
}
