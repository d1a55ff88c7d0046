import { arch, hostname, platform } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { version } from '@millrace/platform';
import { Command } from 'commander';
import { call } from '../call.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { openInBrowser } from '../open-in-browser.ts';
import { tokenOption, keepLogin, withLoginOptions, type Login, type LoginOptions } from '../login.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsFor, waitsForServer } from '../waiting.ts';

interface Options extends LoginOptions {
  readonly invitation?: string;
  readonly name?: string;
  readonly approval?: boolean;
  readonly json?: boolean;
}

/** No token needs to be copied here, because it is created when the user approves the code on another device. The server ends the wait. */
async function approvedToken(url: string, isInteractive: boolean): Promise<string> {
  const login: Login = { url, token: '' };
  const { authorizationCode, userCode, ...first } = await call(login, 'createAuthorizationCode', {
    headers: { 'user-agent': `millrace/${version} (${platform()} ${arch()})` },
    body: { hostName: hostname() },
  });
  const { line } = screenOn(process.stderr);
  const page = `${url.replace(/\/+$/, '')}/account?approve=${userCode}`;
  const isOpened = isInteractive && openInBrowser(page);
  line(
    isOpened
      ? 'A browser opens. Log in there and approve this machine within ten minutes. If no browser opens:'
      : 'Approve this machine within ten minutes. In a browser:',
  );
  line(`  ${page}`);
  line('Or on a machine that is already logged in to this server:');
  line(`  millrace tokens approve ${userCode}`);
  for (let seconds = first.interval; ;) {
    await setTimeout(seconds * 1_000);
    const { token, interval = seconds } = await call(login, 'exchangeAuthorizationCode', {
      body: { authorizationCode },
    });
    if (token) return token.token;
    seconds = interval;
  }
}

async function tokenOnStdin(): Promise<string> {
  waitsFor('a personal access token on stdin');
  const token = (await text(process.stdin)).trim();
  waitsFor();
  return token;
}

async function tokenFor(url: string, { invitation, name, approval, ...options }: Options): Promise<string> {
  if (approval) return approvedToken(url, process.stdin.isTTY && !options.json);
  if (invitation !== undefined) {
    if (name === undefined)
      throw new CommandFailed(exitCodes.usage, 'Missing option: --name "Ada Lovelace".');
    const login: Login = { url, token: '' };
    return (await call(login, 'joinByInvitation', { body: { token: invitation, name } })).personalAccessToken;
  }
  // Passed as an option, the token would stay in the shell history; read from stdin, it does not.
  const token = tokenOption(options) ?? (process.stdin.isTTY ? '' : await tokenOnStdin());
  if (token !== '') return token;
  throw new CommandFailed(
    exitCodes.usage,
    'No personal access token. Pass --token, set MILLRACE_ACCESS_TOKEN or send it on stdin; or use --invitation or --approval. The first start of the server created the first token.',
  );
}

export const loginCommand = (): Command =>
  withLoginOptions(
    new Command('login')
      .description('log in and store a personal access token')
      .option('--invitation <token>', 'invitation token (svc_inv_…), to join an organization as a new user')
      .option('--name <name>', 'with --invitation: your name')
      .option(
        '--approval',
        'print a code and wait for your approval in a browser or on a machine that is logged in',
      ),
  ).action(async (options: Options) => {
    const { url } = options;
    if (url === undefined) {
      throw new CommandFailed(exitCodes.usage, 'No server address. Pass --url or set MILLRACE_API_URL.');
    }
    const login = { url, token: await tokenFor(url, options) };
    waitsForServer(url);
    const { user } = await call(login, 'whoami');
    if (!user) {
      throw new CommandFailed(
        exitCodes.usage,
        'This is a secret key. A login requires a personal access token (svc_pat_…).',
      );
    }
    const file = await keepLogin(login);
    if (options.json) return printJson({ url, user, file });
    screenOn(process.stdout).line(
      `Logged in as ${user.name} (${user.id}) at ${url}. The login is stored in ${file}.`,
    );
  });
