import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Option, type Command } from 'commander';
import { CommandFailed, exitCodes } from './exit-codes.ts';
import { address } from './options.ts';

/** A server and who one is there. */
export interface Login {
  readonly url: string;
  /** A personal access token. */
  readonly token: string;
}

export interface LoginOptions {
  readonly url?: string;
  readonly token?: string;
}

/** The options of every command that acts in the name of a user. */
export const withLoginOptions = (command: Command): Command =>
  command
    .addOption(new Option('--url <address>', 'the server').env('MILLRACE_API_URL').argParser(address))
    .addOption(new Option('--token <token>', 'a personal access token').env('MILLRACE_ACCESS_TOKEN'))
    .option('--json', 'JSON on stdout');

const loginFile = (): string =>
  join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'millrace', 'login.json');

/** Keeps a login for later commands, readable by this user only. Returns where. */
export async function keepLogin(login: Login): Promise<string> {
  const file = loginFile();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // A file that was there keeps its mode when it is written to.
  await rm(file, { force: true });
  await writeFile(file, `${JSON.stringify(login)}\n`, { mode: 0o600 });
  return file;
}

const keptLogin = (): Promise<Login | undefined> =>
  readFile(loginFile(), 'utf8').then(
    (text) => JSON.parse(text) as Login,
    () => undefined,
  );

/** Who acts, and where: options, then the environment's variables, then what `millrace login` kept. */
export async function findLogin({ url, token }: LoginOptions): Promise<Login> {
  if (url !== undefined && token !== undefined) return { url, token };
  const kept = await keptLogin();
  // A token given for one server is not sent to another.
  if (kept && token === undefined && (url === undefined || url === kept.url)) return kept;
  throw new CommandFailed(
    exitCodes.cannotReach,
    url === undefined && token === undefined
      ? 'You are not logged in: run `millrace login`, or set MILLRACE_API_URL and MILLRACE_ACCESS_TOKEN.'
      : `Only half of the login is set: set ${url === undefined ? 'MILLRACE_API_URL (or --url)' : 'MILLRACE_ACCESS_TOKEN (or --token)'} as well.`,
  );
}
