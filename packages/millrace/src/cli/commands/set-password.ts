import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { call } from '../call.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { printJson, screenOn } from '../screen.ts';
import { typedSecret } from '../typed-secret.ts';
import { waitsFor } from '../waiting.ts';

interface Options extends LoginOptions {
  readonly email?: string;
  readonly remove?: boolean;
  readonly json?: boolean;
}

/** On a terminal, typed twice without echo; otherwise read from stdin. */
async function newPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    waitsFor('a password on stdin');
    const piped = (await text(process.stdin)).replace(/\r?\n$/, '');
    waitsFor();
    return piped;
  }
  const first = await typedSecret('New password (hidden):');
  if (first === (await typedSecret('Repeat the password:'))) return first;
  throw new CommandFailed(exitCodes.usage, 'Passwords do not match. Nothing was changed.');
}

export const setPasswordCommand = (): Command =>
  withLoginOptions(
    new Command('set-password')
      .description('set your dashboard password and end your sessions')
      .option('--email <address>', 'your email address, if the server does not have it yet')
      .option('--remove', 'remove the password'),
  ).action(async ({ email, remove, json, ...options }: Options) => {
    const login = await findLogin(options);
    const password = remove ? null : await newPassword();
    const set = await call(login, 'setPassword', { body: { password, email } });
    if (json) return printJson(set);
    screenOn(process.stdout).line(
      set.hasPassword
        ? `The password is set. Log in at ${login.url}/login with ${set.email}.`
        : 'Password removed. Log in with `millrace open`.',
    );
  });
