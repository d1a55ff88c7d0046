import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type * as Sdk from '@millrace/sdk';
import { type Command, Option } from 'commander';
import { CommandFailed, exitCodes } from './exit-codes.ts';
import { address } from './options.ts';

/** A server and the key of one of its environments. */
export interface Connection {
  readonly url: string;
  readonly key: string;
}

export interface ConnectionOptions {
  readonly url?: string;
  readonly key?: string;
  readonly dir: string;
  /** A branch of the key's environment. */
  readonly branch?: string;
}

/** The options of every command that speaks to a server. */
export const withConnectionOptions = (command: Command): Command =>
  command
    .addOption(new Option('--url <address>', 'the server').env('MILLRACE_API_URL').argParser(address))
    .addOption(new Option('--key <key>', "an environment's secret key").env('MILLRACE_SECRET_KEY'))
    .option('--dir <folder>', 'the project whose `millrace dev` is meant', '.');

// `millrace dev` leaves its address here, so that a second terminal needs no settings.
const devFile = (dir: string): string => join(resolve(dir), '.millrace', 'dev.json');

/** Remembers a running `millrace dev`, readable by this user only. Returns what forgets it. */
export async function rememberDev(dir: string, connection: Connection): Promise<() => Promise<void>> {
  const file = devFile(dir);
  await mkdir(join(file, '..'), { recursive: true });
  await rm(file, { force: true });
  await writeFile(file, `${JSON.stringify({ ...connection, pid: process.pid })}\n`, { mode: 0o600 });
  return () => rm(file, { force: true });
}

/** Which server to speak to: options, then the environment's variables, then the `millrace dev` of this folder. */
export async function findServer(options: ConnectionOptions): Promise<Connection> {
  const { url, key } = options;
  if (url !== undefined && key !== undefined) return { url, key };
  const running = await readFile(devFile(options.dir), 'utf8').then(
    (text) => JSON.parse(text) as Connection,
    () => undefined,
  );
  // A key given for one server is not sent to another, and the other way round.
  if (running && url === undefined && key === undefined) return running;
  const missing = url === undefined ? 'MILLRACE_API_URL (or --url)' : 'MILLRACE_SECRET_KEY (or --key)';
  throw new CommandFailed(
    exitCodes.cannotReach,
    url === undefined && key === undefined
      ? 'There is no server to speak to: start `millrace dev` in this folder, or set MILLRACE_API_URL and MILLRACE_SECRET_KEY.'
      : `Only half of the connection is set: set ${missing} as well.`,
  );
}

/** The SDK, set up for that server. A person waits: it gives up after a second try. */
export async function openClient(options: ConnectionOptions): Promise<typeof Sdk> {
  const { url, key } = await findServer(options);
  const sdk = await import('@millrace/sdk');
  sdk.configure({
    baseURL: url,
    secretKey: key,
    ...(options.branch !== undefined && { previewBranch: options.branch }),
    retry: { maxAttempts: 2, minTimeoutInMs: 200 },
  });
  return sdk;
}
