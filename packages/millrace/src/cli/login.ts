import { readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '@millrace/platform';
import { Option, type Command } from 'commander';
import { withFolderOption } from './connection.ts';
import { CommandFailed, exitCodes } from './exit-codes.ts';
import { address } from './options.ts';
import { findDev } from './running-dev.ts';
import { waitsForServer } from './waiting.ts';

/** A server and a user's credential for it. */
export interface Login {
  readonly url: string;
  /** A personal access token. */
  readonly token: string;
}

export interface LoginOptions {
  readonly url?: string;
  readonly token?: string;
  /** Alias for `token`, as in other commands. */
  readonly key?: string;
  readonly dir: string;
}

/** The options of every command that acts on behalf of a user. */
export const withLoginOptions = (command: Command): Command =>
  withFolderOption(
    command
      .addOption(new Option('--url <url>', 'URL of the server').env('MILLRACE_API_URL').argParser(address))
      .addOption(new Option('--token <token>', 'personal access token').env('MILLRACE_ACCESS_TOKEN'))
      .addOption(new Option('--key <token>', 'alias of --token'))
      .option('--json', 'print JSON'),
  );

const loginFile = (): string =>
  join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'millrace', 'login.json');

/** Stores a login for later commands, readable only by this user. Returns the file. */
export async function keepLogin(login: Login): Promise<string> {
  const file = loginFile();
  await makeFolder(dirname(file), 0o700);
  // Writing to an existing file would keep its mode.
  await rm(file, { force: true });
  await writeFile(file, `${JSON.stringify(login)}\n`, { mode: 0o600 });
  return file;
}

/** The login that `millrace login` stored, if any. */
export const storedLogin = (): Promise<Login | undefined> =>
  readFile(loginFile(), 'utf8').then(
    (text) => JSON.parse(text) as Login,
    () => undefined,
  );

/** Deletes the stored login. Returns the file. */
export async function forgetLogin(): Promise<string> {
  const file = loginFile();
  await rm(file, { force: true });
  return file;
}

/** The token from either option. */
export function tokenOption({ token, key }: LoginOptions): string | undefined {
  if (token !== undefined && key !== undefined && token !== key) {
    throw new CommandFailed(
      exitCodes.usage,
      'Both --token (or MILLRACE_ACCESS_TOKEN) and --key are set. Use only one of them.',
    );
  }
  return key ?? token;
}

/**
 * Finds the server and the user: from the options, the environment variables, the `millrace dev` of this folder or one above it, or the
 * login that `millrace login` stored.
 */
export async function findLogin(options: LoginOptions): Promise<Login> {
  const { url } = options;
  const token = tokenOption(options);
  const found = url !== undefined && token !== undefined ? { url, token } : await foundLogin(options, token);
  waitsForServer(found.url);
  return found;
}

async function foundLogin({ url, dir }: LoginOptions, token: string | undefined): Promise<Login> {
  // Never send a token for one server to another.
  const isMeant = (other: { readonly url: string }): boolean =>
    token === undefined && (url === undefined || url === other.url);
  const running = await findDev(dir);
  if (running && running.token !== null && isMeant(running))
    return { url: running.url, token: running.token };
  const stored = await storedLogin();
  if (stored && isMeant(stored)) return stored;
  throw new CommandFailed(
    exitCodes.cannotReach,
    url === undefined && token === undefined
      ? 'Not logged in. Run `millrace login`, start `millrace dev` in this folder, or set MILLRACE_API_URL and MILLRACE_ACCESS_TOKEN.'
      : `The login is incomplete. Set ${url === undefined ? 'MILLRACE_API_URL (or --url)' : 'MILLRACE_ACCESS_TOKEN (or --key)'} as well.`,
  );
}
