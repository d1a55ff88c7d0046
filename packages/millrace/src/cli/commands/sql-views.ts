import type { Sql } from '@millrace/server';
import { Command, Option } from 'commander';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';

interface ViewsOptions {
  readonly databaseUrl?: string;
  readonly json?: boolean;
}

interface GrantOptions extends ViewsOptions {
  readonly environment: readonly string[];
  readonly all?: boolean;
}

export const sqlViewsCommand = (): Command =>
  new Command('sql-views')
    .description('read data with SQL through stable views')
    .addCommand(sqlCommand())
    .addCommand(installCommand())
    .addCommand(grantCommand())
    .addCommand(revokeCommand());

const withDatabaseOption = (command: Command): Command =>
  command
    .addOption(
      new Option('--database-url <url>', "URL of Millrace's database, with the role of the server")
        .env('DATABASE_URL')
        .makeOptionMandatory(),
    )
    .option('--json', 'print JSON');

const sqlCommand = (): Command =>
  new Command('sql')
    .description('print the SQL that installs the views')
    .option('--json', 'print JSON')
    .action(async (options: ViewsOptions) => {
      const { sqlViewsText } = await import('@millrace/server');
      const sql = await sqlViewsText();
      if (options.json) printJson({ sql });
      else screenOn(process.stdout).text(sql);
    });

const installCommand = (): Command =>
  withDatabaseOption(
    new Command('install').description('install or update the views in the database'),
  ).action(async (options: ViewsOptions) => {
    const { installSqlViews } = await import('@millrace/server');
    await onDatabase(options, (sql) => sql.begin(installSqlViews));
    if (options.json) printJson({ schema: 'millrace_v1', installed: true });
    else screenOn(process.stdout).line('The views are installed in the schema millrace_v1.');
  });

const grantCommand = (): Command =>
  withDatabaseOption(
    new Command('grant')
      .description('let a database role read the views, with the rows of the given environments only')
      .argument('<role>', 'existing database role')
      .option('--environment <id...>', 'ids of environments; their branches are included', [])
      .option('--all', 'all environments, including those that are created later'),
  ).action(async (role: string, options: GrantOptions) => {
    if (options.environment.length > 0 === (options.all === true))
      throw new CommandFailed(exitCodes.usage, 'Pass either --environment <id> or --all.');
    const { grantSqlViews } = await import('@millrace/server');
    const environments = options.all ? 'all' : options.environment;
    await onDatabase(options, (sql) => sql.begin((tx) => grantSqlViews(tx, role, environments)));
    if (options.json) return printJson({ role, environments });
    const which =
      environments === 'all'
        ? 'all environments'
        : environments.length === 1
          ? 'one environment'
          : `${environments.length} environments`;
    screenOn(process.stdout).line(`${role} can read the views, with the rows of ${which}.`);
  });

const revokeCommand = (): Command =>
  withDatabaseOption(
    new Command('revoke')
      .description('remove the access of a database role to the views')
      .argument('<role>', 'database role'),
  ).action(async (role: string, options: ViewsOptions) => {
    const { revokeSqlViews } = await import('@millrace/server');
    await onDatabase(options, (sql) => sql.begin((tx) => revokeSqlViews(tx, role)));
    if (options.json) printJson({ role, revoked: true });
    else screenOn(process.stdout).line(`${role} can no longer read the views.`);
  });

async function onDatabase(options: ViewsOptions, act: (sql: Sql) => Promise<void>): Promise<void> {
  const { connect, DatabaseRefused, readAddress } = await import('@millrace/server');
  const { databaseUrl = '' } = options;
  try {
    readAddress(databaseUrl, '--database-url');
  } catch (error) {
    if (error instanceof DatabaseRefused) throw new CommandFailed(exitCodes.usage, error.message);
    throw error;
  }
  const sql = connect(databaseUrl, { name: 'millrace-views', max: 1 });
  try {
    await act(sql);
  } catch (error) {
    throw new CommandFailed(exitCodes.failed, `Nothing was changed: ${reasonOf(error)}`);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const notMillrace = 'The database has no Millrace tables of this release: start the server on it first.';

const reasons: Readonly<Record<string, string>> = {
  // a missing schema, table and column
  '3F000': 'The views are not installed: run `millrace sql-views install`.',
  '42P01': notMillrace,
  '42703': notMillrace,
};

function reasonOf(error: unknown): string {
  const { code, message } = error as Error & { code?: string };
  return reasons[code ?? ''] ?? message;
}
