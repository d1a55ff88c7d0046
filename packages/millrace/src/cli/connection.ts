import type * as Sdk from '@millrace/sdk';
import type { EnvironmentKind } from '@millrace/contract';
import { type Command, Option } from 'commander';
import { CommandFailed, exitCodes } from './exit-codes.ts';
import { refuseOtherKey } from './key-environment.ts';
import { address, environment } from './options.ts';
import { findDev, type Connection } from './running-dev.ts';
import { waitsForServer } from './waiting.ts';

export interface ConnectionOptions {
  readonly url?: string;
  readonly key?: string;
  readonly dir: string;
  /** The required environment of the key. */
  readonly env?: EnvironmentKind | undefined;
  /** A branch of the key's environment. */
  readonly branch?: string;
}

/** The option for the folder of `millrace dev`. */
export const withFolderOption = (command: Command): Command =>
  command.option('--dir <folder>', 'project folder, used to find its `millrace dev`', '.');

/** The options of every command that calls a server with a key. */
export const withConnectionOptions = (command: Command): Command =>
  withKeyOptions(command).addOption(
    new Option('--branch <name>', 'branch of the preview or dev environment').env('MILLRACE_PREVIEW_BRANCH'),
  );

/** The same without a branch. */
export const withKeyOptions = (command: Command): Command =>
  withFolderOption(
    command
      .addOption(new Option('--url <url>', 'URL of the server').env('MILLRACE_API_URL').argParser(address))
      .addOption(new Option('--key <key>', 'secret key of the environment').env('MILLRACE_SECRET_KEY'))
      .option('--env <environment>', 'fail unless the key belongs to this environment', environment),
  );

/** Finds the server: from the options, the environment variables, or the `millrace dev` of this folder or one above it. */
export async function findServer(options: ConnectionOptions): Promise<Connection> {
  const { url, key, env } = options;
  const found = url !== undefined && key !== undefined ? { url, key } : await devFor(options);
  if (env !== undefined) refuseOtherKey(found.key, env);
  return found;
}

/** The headers that select a branch. */
export const branchHeaders = (branch: string | undefined): Record<string, string> =>
  branch === undefined ? {} : { 'x-service-branch': branch };

/** The server as a login, and the headers that select a branch. */
export async function branchServer(options: ConnectionOptions): Promise<{
  readonly login: { readonly url: string; readonly token: string };
  readonly headers: Record<string, string>;
}> {
  const { url, key } = await findServer(options);
  return { login: { url, token: key }, headers: branchHeaders(options.branch) };
}

async function devFor({ url, key, dir }: ConnectionOptions): Promise<Connection> {
  const running = await findDev(dir);
  // Never send a key for one server to another.
  if (running && key === undefined && (url === undefined || url === running.url)) return running;
  const missing = url === undefined ? 'MILLRACE_API_URL (or --url)' : 'MILLRACE_SECRET_KEY (or --key)';
  throw new CommandFailed(
    exitCodes.cannotReach,
    url === undefined && key === undefined
      ? 'No server is configured: start `millrace dev` in this folder, or set MILLRACE_API_URL and MILLRACE_SECRET_KEY.'
      : `The connection is incomplete. Set ${missing} as well.`,
  );
}

/** The SDK, configured for that server. It gives up after the second attempt, because a person is waiting. */
export async function openClient(
  options: ConnectionOptions,
  /** By default, sealed data stays sealed. */
  codec: Sdk.Codec | null = null,
): Promise<typeof Sdk> {
  const { url, key } = await findServer(options);
  waitsForServer(url);
  const sdk = await import('@millrace/sdk');
  sdk.configure({
    baseURL: url,
    secretKey: key,
    ...(options.branch !== undefined && { previewBranch: options.branch }),
    retry: { maxAttempts: 2, minTimeoutInMs: 200 },
    codec,
  });
  return sdk;
}
