import { join, resolve } from 'node:path';
import { createLog, loadMasterKey } from '@millrace/server';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';
import { version } from '../version.ts';
import { type Closing, withClosing } from './closing.ts';
import { credentialsJson, printCredentials } from './credentials.ts';
import { foldJsonLines } from './fold-repeats.ts';
import { serveKeyChanges } from './key-changes.ts';
import { embeddedDatabase, externalDatabase, type OpenDatabase } from './open-database.ts';
import { openServer } from './open-server.ts';

export interface StartOptions {
  readonly host: string;
  readonly port: number;
  readonly data?: string;
  readonly masterKeyFile?: string;
  readonly logLevel: string;
  readonly json?: boolean;
}

/** The server of production: PostgreSQL of DATABASE_URL or embedded, no watcher, no runner. Ends when asked to stop. */
export async function start(options: StartOptions): Promise<void> {
  const { host, port, data, json } = options;
  const stop = listenForStop();
  await withClosing(async (closing) => {
    const { database, lost } = await openDatabase(data, closing);
    const env = process.env['MILLRACE_MASTER_KEY'];
    const file =
      options.masterKeyFile ?? (data === undefined ? undefined : join(resolve(data), 'master.key'));
    const masterKey = await loadMasterKey({
      env,
      previous: process.env['MILLRACE_MASTER_KEY_PREVIOUS'],
      file,
    });
    const folded = foldJsonLines(process.stderr);
    closing.add(async () => folded.end());
    const log = createLog(folded, options.logLevel);
    const server = await openServer({ database, host, port, masterKey, log });
    closing.add(() => server.close());
    if (data !== undefined && file !== undefined && !env?.trim()) {
      serveKeyChanges({ database, masterKey, file, log }, closing);
    }
    if (json) {
      printJson(server.credentials ? credentialsJson(server.url, server.credentials) : { url: server.url });
    } else {
      const screen = screenOn(process.stdout);
      screen.line(`Millrace ${version} serves at ${server.url}`);
      if (server.credentials) {
        screen.line('These secrets are shown this once. Keep them where secrets are kept.');
        printCredentials(server.credentials, screen);
      }
    }
    await Promise.race([stop.requested, lost]);
  });
}

async function openDatabase(data: string | undefined, closing: Closing): Promise<OpenDatabase> {
  const url = process.env['DATABASE_URL']?.trim() || undefined;
  if (url !== undefined && data !== undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      'Both DATABASE_URL and --data are given. Keep the one you mean.',
    );
  }
  if (data !== undefined) return embeddedDatabase(data, closing);
  if (url !== undefined) return externalDatabase(url);
  throw new CommandFailed(
    exitCodes.usage,
    'Where is the data? Set DATABASE_URL, or give --data <folder> for the embedded PostgreSQL.',
  );
}
