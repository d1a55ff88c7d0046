import { Command } from 'commander';
import { call } from '../call.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';
import { approveCommand } from './approve.ts';
import { stateOf } from './secret-keys.ts';

type Options = LoginOptions & { readonly json?: boolean };

const listCommand = (): Command =>
  withLoginOptions(
    new Command('list').description('list your personal access tokens, without values'),
  ).action(async (options: Options) => {
    const { data } = await call(await findLogin(options), 'listTokens');
    if (options.json) return data.forEach(printJson);
    printTable(
      ['token', 'ends in', 'name', 'last used', 'state'],
      data.map((token) => [
        token.id,
        token.lastFour,
        token.name,
        token.lastUsedAt ?? 'never',
        stateOf(token),
      ]),
    );
  });

const createCommand = (): Command =>
  withLoginOptions(
    new Command('create')
      .description('create a personal access token and print it once')
      .argument('<name>', 'name of the token')
      .option('--expires <date>', 'expiry date, such as 2027-01-31T00:00:00Z'),
  ).action(async (name: string, options: Options & { expires?: string }) => {
    const body = { name, expiresAt: options.expires };
    const token = await call(await findLogin(options), 'createToken', { body });
    if (options.json) return printJson(token);
    const { line } = screenOn(process.stdout);
    line(token.token);
    line(`The token is shown only once. Its ID is ${token.id}.`);
    if (token.expiresAt) line(`It expires at ${token.expiresAt}.`);
  });

const revokeCommand = (): Command =>
  withLoginOptions(
    new Command('revoke')
      .description('revoke a personal access token')
      .argument('<token>', 'token ID (pat_…)'),
  ).action(async (tokenId: string, options: Options) => {
    const token = await call(await findLogin(options), 'revokeToken', { params: { tokenId } });
    if (options.json) return printJson(token);
    screenOn(process.stdout).line(`Revoked ${token.name} (…${token.lastFour}).`);
  });

export const tokensCommand = (): Command =>
  new Command('tokens')
    .description('manage your personal access tokens')
    .addCommand(listCommand())
    .addCommand(createCommand())
    .addCommand(approveCommand())
    .addCommand(revokeCommand());
