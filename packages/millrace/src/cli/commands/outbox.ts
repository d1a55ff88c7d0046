import { Command, Option } from 'commander';
import { call, CallRefused } from '../call.ts';
import { findServer, withKeyOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';

interface OutboxOptions extends ConnectionOptions {
  readonly databaseUrl?: string;
  readonly role?: string;
  readonly once?: boolean;
  readonly json?: boolean;
}

export const outboxCommand = (): Command =>
  new Command('outbox')
    .description('trigger runs in the transactions of your own database')
    .addCommand(sqlCommand())
    .addCommand(installCommand())
    .addCommand(drainCommand());

const withDatabaseOption = (command: Command): Command =>
  withKeyOptions(command)
    .addOption(
      new Option('--database-url <url>', 'URL of the database with the outbox')
        .env('MILLRACE_OUTBOX_URL')
        .makeOptionMandatory(),
    )
    .option('--json', 'print JSON');

const sqlCommand = (): Command =>
  withKeyOptions(new Command('sql').description('print the SQL that installs an outbox'))
    .option('--json', 'print JSON')
    .action(async (options: OutboxOptions) => {
      const { outboxSql } = await import('@millrace/server');
      const sql = await outboxSql((await environmentOf(options)).id);
      if (options.json) printJson({ sql });
      else screenOn(process.stdout).text(sql);
    });

const installCommand = (): Command =>
  withDatabaseOption(
    new Command('install')
      .description('install or update an outbox in a database')
      .option('--role <name>', 'database role that is allowed to trigger runs'),
  ).action(async (options: OutboxOptions) => {
    const { connect, environmentOfOutbox, outboxSql } = await import('@millrace/server');
    const { id, name } = await environmentOf(options);
    const text = await outboxSql(id);
    const sql = connect(options.databaseUrl ?? '', { name: 'millrace-outbox', max: 1 });
    try {
      const found = await sql.begin(async (tx) => {
        await tx.unsafe(text);
        if (options.role !== undefined) {
          const role = `"${options.role.replaceAll('"', '""')}"`;
          await tx.unsafe(`grant usage on schema millrace to ${role}`);
          await tx.unsafe(`grant execute on function millrace.trigger(text, jsonb, jsonb) to ${role}`);
        }
        return environmentOfOutbox(tx);
      });
      if (found !== id) {
        throw new CommandFailed(
          exitCodes.failed,
          `The outbox of this database belongs to another environment, ${found ?? '(none)'}. To move it, update millrace.outbox_settings.`,
        );
      }
    } catch (error) {
      if (error instanceof CommandFailed) throw error;
      throw new CommandFailed(exitCodes.failed, `The outbox was not installed: ${reasonOf(error)}`);
    } finally {
      await sql.end({ timeout: 1 });
    }
    if (options.json) printJson({ environment: id, installed: true });
    else screenOn(process.stdout).line(`The outbox is installed. Its runs belong to ${name}.`);
  });

const drainCommand = (): Command =>
  withDatabaseOption(
    new Command('drain')
      .description('deliver triggers from another database, until stopped')
      .option('--once', 'exit when no triggers are waiting'),
  ).action(async (options: OutboxOptions) => {
    const { drainOutbox } = await import('@millrace/server');
    const { url, key } = await findServer(options);
    const { id } = await environmentOf(options);
    const stop = new AbortController();
    listenForStop(() => stop.abort());
    const [out, err] = [screenOn(process.stdout), screenOn(process.stderr)];
    let delivered = 0;
    let failed = 0;
    try {
      await drainOutbox({
        database: options.databaseUrl ?? '',
        environment: id,
        once: options.once,
        signal: stop.signal,
        send: async (items) =>
          (await call({ url, token: key }, 'deliverOutbox', { body: { items } })).results,
        onDelivered(results) {
          for (const result of results) {
            if ('run' in result) delivered++;
            else {
              failed++;
              if (options.json) printJson({ type: 'failed', ...result });
              else err.line(`${result.id} cannot be delivered: ${result.error}`);
            }
          }
        },
        onError(error) {
          const isFinal = error instanceof CallRefused && [400, 401, 403, 404].includes(error.status);
          if (isFinal || options.once) return false;
          err.line(`${reasonOf(error)} Retrying.`);
          return true;
        },
      });
    } catch (error) {
      if (error instanceof CommandFailed) throw error;
      throw new CommandFailed(exitCodes.failed, `The outbox was not drained: ${reasonOf(error)}`);
    }
    if (options.json) printJson({ type: 'drained', delivered, failed });
    else out.line(`Delivered ${delivered}${failed > 0 ? `, kept ${failed} that cannot be delivered` : ''}.`);
    if (failed > 0) process.exitCode = exitCodes.failed;
  });

async function environmentOf(options: ConnectionOptions): Promise<{ id: string; name: string }> {
  const { url, key } = await findServer(options);
  const { environment } = await call({ url, token: key }, 'whoami');
  if (environment) return environment;
  throw new CommandFailed(exitCodes.usage, 'No secret key. Pass --key or set MILLRACE_SECRET_KEY.');
}

const missing: Readonly<Record<string, string>> = {
  '3F000': 'The database has no outbox: run `millrace outbox install`.',
  '42P01': 'The database has no outbox: run `millrace outbox install`.',
};

function reasonOf(error: unknown): string {
  const { code, message, cause } = error as Error & { code?: string };
  return missing[code ?? ''] ?? (cause instanceof Error ? `${message} (${cause.message})` : message);
}
