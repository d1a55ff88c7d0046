import { join, resolve } from 'node:path';
import { createLog, loadMasterKey } from '@millrace/server';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';
import { version } from '../version.ts';
import { type Closing, withClosing } from './closing.ts';
import { credentialsJson, printCredentials } from './credentials.ts';
import { serveKeyChanges } from './key-changes.ts';
import { embeddedDatabase, externalDatabase, type OpenDatabase } from './open-database.ts';
import { openServer } from './open-server.ts';

export interface StartOptions {
  readonly host: string;
  readonly port: number;
  readonly data?: string;
  readonly directUrl?: string;
  readonly paused?: boolean;
  readonly masterKeyFile?: string;
  readonly logLevel: string;
  readonly json?: boolean;
}

/** The server of production: PostgreSQL of DATABASE_URL or embedded, no watcher, no runner. Ends when asked to stop. */
export async function start(options: StartOptions): Promise<void> {
  const { host, port, data, json } = options;
  const paused = isPauseAsked(options);
  const stop = listenForStop();
  await withClosing(async (closing) => {
    const { database, directDatabase, lost } = await openDatabase(options, closing);
    const env = process.env['MILLRACE_MASTER_KEY'];
    const file =
      options.masterKeyFile ?? (data === undefined ? undefined : join(resolve(data), 'master.key'));
    const masterKey = await loadMasterKey({
      env,
      previous: process.env['MILLRACE_MASTER_KEY_PREVIOUS'],
      file,
    });
    const log = createLog(process.stderr, options.logLevel);
    const server = await openServer({ database, directDatabase, host, port, masterKey, log, paused });
    closing.add(() => server.close());
    if (data !== undefined && file !== undefined && !env?.trim()) {
      serveKeyChanges({ database, masterKey, file, log }, closing);
    }
    if (json) {
      const { url, credentials, pausedSince } = server;
      printJson({
        ...(credentials ? credentialsJson(url, credentials) : { url }),
        ...(pausedSince && { paused: true, pausedAt: pausedSince.toISOString() }),
      });
    } else {
      const screen = screenOn(process.stdout);
      screen.line(`Millrace ${version} serves at ${server.url}`);
      if (server.pausedSince) {
        screen.line(
          `Paused since ${server.pausedSince.toISOString()}: nothing is started or fired until \`millrace resume\`.`,
        );
      }
      if (server.credentials) {
        screen.line('These secrets are shown this once. Keep them where secrets are kept.');
        printCredentials(server.credentials, screen);
      }
    }
    await Promise.race([stop.requested, lost]);
  });
}

/** `--paused`, or MILLRACE_PAUSED. */
function isPauseAsked({ paused }: StartOptions): boolean {
  const text = process.env['MILLRACE_PAUSED']?.trim() ?? '';
  if (paused || text === '1' || text === 'true') return true;
  if (text === '' || text === '0' || text === 'false') return false;
  throw new CommandFailed(exitCodes.usage, 'MILLRACE_PAUSED is 1 or 0.');
}

async function openDatabase({ data, directUrl }: StartOptions, closing: Closing): Promise<OpenDatabase> {
  const url = process.env['DATABASE_URL']?.trim() || undefined;
  const direct = directUrl?.trim() || undefined;
  if (url !== undefined && data !== undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      'Both DATABASE_URL and --data are given. Keep the one you mean.',
    );
  }
  if (data !== undefined && direct !== undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      'DATABASE_DIRECT_URL goes with DATABASE_URL, and --data needs neither. Keep what you mean.',
    );
  }
  if (data !== undefined) return embeddedDatabase(data, closing);
  if (url !== undefined) return externalDatabase(url, direct);
  throw new CommandFailed(
    exitCodes.usage,
    'Where is the data? Set DATABASE_URL, or give --data <folder> for the embedded PostgreSQL.',
  );
}
