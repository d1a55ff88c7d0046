import type { CheckResult } from '@millrace/contract';
import type { Queryable, Sql } from '../../db/connect.ts';
import { codeOf } from '../../db/errors.ts';
import { tryWriting } from '../../db/try-writing.ts';
import { readSqlFolder, sqlFolder } from '../../db/sql-folder.ts';
import { databaseChecks } from './checks.ts';
import type { DatabaseCheck, DatabaseInput } from './database-input.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { defaultCheckMs, runChecks } from './run.ts';

export interface DiagnoseOptions {
  /** The timeout for each check. */
  readonly timeoutMs?: number;
  readonly limits?: Partial<Limits>;
  /** The clock of this machine, in milliseconds since 1970. */
  readonly wallClock?: () => number;
  /** Default: all of them. */
  readonly checks?: readonly DatabaseCheck[];
}

/**
 * Finds problems of a database and of the installation in it. After a test write, it only reads, and runs each check in a separate short
 * transaction. `sql` needs three connections.
 */
export async function diagnoseDatabase(
  sql: Sql,
  { timeoutMs = defaultCheckMs, limits, wallClock = Date.now, checks = databaseChecks }: DiagnoseOptions = {},
): Promise<CheckResult[]> {
  /** PostgreSQL ends a slow statement before the check times out, so that its connection becomes free. */
  const reading = <R>(read: (transaction: Queryable) => Promise<R>): Promise<R> =>
    sql.moment(async (transaction) => {
      await transaction`select set_config('statement_timeout', ${String(Math.ceil(timeoutMs * 0.8))}, true)`;
      return read(transaction);
    });
  const readCommon = async () => {
    // Before the read-only transaction: a database that is read-only loses all its connections.
    const failedWrite = await tryWriting(sql, timeoutMs / 2).catch((error: unknown) => {
      // `database-rights` reports it.
      if (['42501', '3F000'].includes(codeOf(error))) return 'no permission' as const;
      throw error;
    });
    return { ...(await reading(readInput)), failedWrite };
  };
  /** Read within the time of the first check. */
  let input: ReturnType<typeof readCommon> | undefined;
  const isolated = checks.map((check) => ({
    ...check,
    async find() {
      input ??= readCommon();
      const common = { ...(await input), limits: { ...defaultLimits, ...limits }, wallClock };
      return reading((transaction) => check.find({ ...common, sql: transaction }));
    },
  }));
  return runChecks(isolated, undefined, timeoutMs);
}

/** The data used by several checks. */
export async function readInput(
  sql: Queryable,
): Promise<Pick<DatabaseInput, 'postgres' | 'release' | 'applied' | 'isPaused' | 'isServed' | 'isStandby'>> {
  const release = readSqlFolder(sqlFolder);
  const [row] = await sql<
    { version: string; number: number; hasTables: boolean; isServed: boolean; isStandby: boolean }[]
  >`
    select pg_is_in_recovery() as "isStandby", current_setting('server_version') as version, current_setting('server_version_num')::int as number,
           to_regclass('migrations') is not null and to_regclass('installed_functions') is not null as "hasTables",
           exists (select from pg_stat_activity
                    where datname = current_database() and application_name in ('millrace', 'millrace engine')) as "isServed"`;
  const { version = '', number = 0, hasTables = false, isServed = false, isStandby = false } = row ?? {};
  const applied = hasTables
    ? (await sql<{ name: string }[]>`select name from migrations order by name`).map(({ name }) => name)
    : undefined;
  const [installation] = applied?.includes('0001_tenancy.sql')
    ? await sql<{ paused: boolean }[]>`select paused_at is not null as paused from installation`
    : [];
  return {
    postgres: { version, number },
    release,
    applied,
    isPaused: installation?.paused ?? false,
    isServed,
    isStandby,
  };
}
