import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { version } from '@millrace/platform';
import { examine, type Examination, type Group } from '../../doctor/examine.ts';
import { defaultBackupAgeMs } from '../../doctor/machine/backup-age.ts';
import { exitCodes, CommandFailed } from '../exit-codes.ts';
import { storedLogin } from '../login.ts';
import { findDev } from '../running-dev.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import { withCleanup } from './cleanup.ts';
import { embeddedOrRunning, externalDatabase, type OpenDatabase } from './open-database.ts';

export interface DoctorOptions {
  readonly data?: string;
  readonly backups?: string;
  readonly maxBackupAge?: number;
  readonly directUrl?: string;
  readonly url?: string;
  readonly token?: string;
  readonly key?: string;
  readonly host: string;
  readonly port: number;
  readonly timeout: number;
  readonly dir: string;
  readonly json?: boolean;
}

/** Checks this machine, and the database and server given by the options and the environment, for problems. */
export async function doctor(options: DoctorOptions): Promise<void> {
  const databaseUrl = process.env['DATABASE_URL']?.trim() || undefined;
  const data = options.data === undefined ? undefined : resolve(options.data);
  if (databaseUrl !== undefined && data !== undefined)
    throw new CommandFailed(exitCodes.usage, 'Both DATABASE_URL and --data are set. Use only one of them.');
  const backups = options.backups?.trim() || undefined;
  await withCleanup(async (cleanup) => {
    let opened: Promise<Pick<OpenDatabase, 'database' | 'directDatabase'>> | undefined;
    const open = (): NonNullable<typeof opened> => {
      opened ??=
        data === undefined
          ? Promise.resolve().then(() => externalDatabase(databaseUrl ?? '', options.directUrl?.trim()))
          : embeddedOrRunning(data, cleanup);
      return opened;
    };
    const hasDatabase = databaseUrl !== undefined || data !== undefined;
    const server = await serverOf(options, hasDatabase);
    waitsFor('the checks to finish');
    const result = await examine({
      machine: {
        nodeVersion: process.versions.node,
        folders: [data ?? process.cwd(), tmpdir()],
        listen: hasDatabase || !server ? { host: options.host, port: options.port } : undefined,
        data,
        backups:
          backups === undefined
            ? undefined
            : { folder: resolve(backups), maxAgeMs: options.maxBackupAge ?? defaultBackupAgeMs },
      },
      ...(hasDatabase && { database: { open, data } }),
      masterKeys: ['MILLRACE_MASTER_KEY', 'MILLRACE_MASTER_KEY_PREVIOUS'].flatMap((name) => {
        const text = process.env[name]?.trim();
        return text ? [text] : [];
      }),
      server,
      timeoutMs: options.timeout,
      secrets: databaseUrl === undefined ? [] : [databaseUrl, options.directUrl ?? ''],
    });
    waitsFor();
    print(result, options.json === true);
  });
}

interface Server {
  readonly url: string;
  readonly token?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * The given server, otherwise the folder's `millrace dev`, otherwise the server of the login. A stored credential is sent only to its own
 * server.
 */
async function serverOf(
  { url, token, key, dir }: DoctorOptions,
  hasDatabase: boolean,
): Promise<Server | undefined> {
  // With a database, a stored login most likely belongs to another installation.
  const stored = hasDatabase && url === undefined ? [] : [await devOf(dir), await storedLogin()];
  const found = stored.find((candidate) => candidate && (url === undefined || url === candidate.url));
  if (url === undefined) return found;
  return { url, token: token ?? found?.token, key: key ?? (found && 'key' in found ? found.key : undefined) };
}

async function devOf(dir: string): Promise<Server | undefined> {
  const running = await findDev(dir);
  return running && { url: running.url, token: running.token ?? undefined, key: running.key };
}

function print({ groups, errors, warnings }: Examination, json: boolean): void {
  if (errors > 0) process.exitCode = exitCodes.failed;
  else if (warnings > 0) process.exitCode = exitCodes.warned;
  if (json) {
    printJson({
      version,
      errors,
      warnings,
      checks: groups.flatMap(({ group, checks }) => checks.map((check) => ({ group, ...check }))),
    });
    return;
  }
  const { line, text, paint } = screenOn(process.stdout);
  const colours = { ok: paint.green, error: paint.red, warning: paint.yellow, skipped: paint.dim };
  const rows = groups.flatMap(({ group, checks }: Group) =>
    checks.map(({ name, state, findings, reason }) => [
      colours[state](state),
      group,
      name,
      state === 'skipped'
        ? (reason ?? '')
        : findings.length === 0
          ? ''
          : `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`,
    ]),
  );
  for (const row of table(rows)) line(row);
  for (const { name, state, findings } of groups.flatMap(({ checks }) => checks)) {
    for (const { what, why, fix } of findings) {
      line();
      text(`${colours[state](state)}  ${paint.bold(name)}  ${what}`);
      text(`  why   ${why}`);
      text(`  fix   ${fix}`);
    }
  }
  line();
  line(
    errors + warnings === 0
      ? 'No problems found.'
      : `${count(errors, 'error')}, ${count(warnings, 'warning')}.`,
  );
  if (!groups.some(({ group }) => group !== 'machine'))
    line('Only this machine was checked: set DATABASE_URL, or pass --data or --url.');
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
