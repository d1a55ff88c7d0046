import { Command } from 'commander';
import { call } from '../call.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';

type Options = LoginOptions & { readonly json?: boolean };

const listCommand = (): Command =>
  withLoginOptions(new Command('list').description('list your dashboard sessions')).action(
    async (options: Options) => {
      const { data } = await call(await findLogin(options), 'listBrowserSessions');
      if (options.json) return data.forEach(printJson);
      printTable(
        ['session', 'logged in by', 'address', 'last used', 'ends', 'browser'],
        data.map(({ id, method, address, lastUsedAt, expiresAt, userAgent }) => [
          id,
          method,
          address,
          lastUsedAt,
          expiresAt,
          userAgent ?? '',
        ]),
      );
    },
  );

const revokeCommand = (): Command =>
  withLoginOptions(
    new Command('revoke')
      .description('end a dashboard session')
      .argument('<session>', 'session ID (browser_…)'),
  ).action(async (sessionId: string, options: Options) => {
    const ended = await call(await findLogin(options), 'revokeBrowserSession', { params: { sessionId } });
    if (options.json) return printJson(ended);
    screenOn(process.stdout).line(`${ended.id} is logged out.`);
  });

export const browsersCommand = (): Command =>
  new Command('browsers')
    .description('manage your dashboard sessions')
    .addCommand(listCommand())
    .addCommand(revokeCommand());
