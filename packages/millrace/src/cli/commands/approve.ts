import { parseTimeSpan } from '@millrace/contract/plain';
import { Command, InvalidArgumentError } from 'commander';
import { call } from '../call.ts';
import { confirmed } from '../confirm.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { instant } from '../options.ts';
import { printJson, screenOn, table } from '../screen.ts';

interface Options extends LoginOptions {
  readonly name: string;
  readonly expires?: string | null;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** A date, a time span from now, or never (null). */
function expiry(text: string): string | null {
  if (text === 'never') return null;
  const span = parseTimeSpan(text);
  if (typeof span === 'number' && span > 0) return new Date(Date.now() + span).toISOString();
  try {
    return instant(text).toISOString();
  } catch {
    throw new InvalidArgumentError('Must be a duration such as 30d, a date such as 2027-01-31, or never.');
  }
}

export const approveCommand = (): Command =>
  withLoginOptions(
    new Command('approve')
      .description('approve the login of another machine or browser as you')
      .argument(
        '<code>',
        'code displayed there, such as WDJB-MJHT; never approve a code that someone sent you',
      )
      .option('--name <name>', 'name of the new token', 'login')
      .option('--expires <when>', 'expiry of the new token: 30d, a date, or never (default: 90d)', expiry)
      .option('-y, --yes', 'skip the confirmation prompt'),
  ).action(async (userCode: string, { name, expires, yes, json, ...options }: Options) => {
    const login = await findLogin(options);
    const asking = await call(login, 'describeAuthorizationCode', { body: { userCode } });
    // Even with --yes, so that the log shows who was approved.
    const { line } = screenOn(process.stderr);
    line('A machine or browser requests access as you:');
    const rows = [
      ['name', asking.hostName ?? 'none'],
      ['client', asking.userAgent ?? 'unknown'],
      ['address', asking.address],
      ...(asking.forwardedFor === null
        ? []
        : [['forwarded for', `${asking.forwardedFor} (reported by a proxy)`]]),
      ['requested', asking.requestedAt],
    ];
    for (const row of table(rows)) line(`  ${row}`);
    if (!yes && !(await confirmed('Approve?', 'pass --yes after checking the request'))) {
      throw new CommandFailed(exitCodes.failed, 'Not approved. The code expires automatically.');
    }
    const approved = await call(login, 'approveAuthorizationCode', {
      body: { userCode, name, ...(expires !== undefined && { expiresAt: expires }) },
    });
    if (json) return printJson(approved);
    const end = approved.tokenExpiresAt === null ? 'never expires' : `expires at ${approved.tokenExpiresAt}`;
    screenOn(process.stdout).line(
      `Approved. A machine receives the token "${approved.name}", which ${end}; a browser is logged in. \`millrace tokens list\` and \`millrace browsers list\` list them.`,
    );
  });
