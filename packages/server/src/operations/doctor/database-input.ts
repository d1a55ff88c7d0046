import type { Queryable } from '../../db/connect.ts';
import type { FailedWrite } from '../../db/try-writing.ts';
import type { SqlRelease } from '../../db/sql-folder.ts';
import { Skipped, type Check } from './check.ts';
import type { Limits } from './limits.ts';

/** The input of database checks. */
export interface DatabaseInput {
  /** A read-only transaction. */
  readonly sql: Queryable;
  readonly limits: Limits;
  /** The clock of this machine, in milliseconds since 1970. */
  readonly wallClock: () => number;
  /** Why a test write failed. */
  readonly failedWrite: FailedWrite | 'no permission' | undefined;
  readonly isStandby: boolean;
  readonly postgres: { readonly version: string; readonly number: number };
  readonly release: SqlRelease;
  /** Names of its applied migrations; undefined if it has no Millrace tables. */
  readonly applied: readonly string[] | undefined;
  readonly isPaused: boolean;
  /** Whether a server is connected to it. */
  readonly isServed: boolean;
}

export type DatabaseCheck = Check<DatabaseInput>;

/** For checks that read Millrace's own tables. */
export function needTables({ applied, release }: DatabaseInput): void {
  if (!applied) throw new Skipped('Millrace has no tables here yet: the first start creates them');
  const has = new Set(applied);
  if (release.schema.some(({ name }) => !has.has(name)))
    throw new Skipped('the database lacks migrations of this release');
}

/** For checks of servers' background work. */
export function needServer(input: DatabaseInput): void {
  needTables(input);
  // The work is late, and the servers are not the cause.
  if (input.failedWrite !== undefined && input.failedWrite !== 'no permission')
    throw new Skipped('the database does not accept writes');
  if (input.isPaused) throw new Skipped('the installation is paused');
  if (!input.isServed) throw new Skipped('no server is connected to the database');
}

/** For checks of the WAL that the primary writes. */
export function needPrimary({ isStandby }: DatabaseInput): void {
  if (isStandby) throw new Skipped('the database is a standby');
}

/** The value of a setting at the start of a session of this role. */
export async function settingOf({ sql }: DatabaseInput, name: string): Promise<string> {
  const [row] = await sql<
    { value: string }[]
  >`select reset_val as value from pg_settings where name = ${name}`;
  return row?.value ?? '';
}

/** The name of an environment: its project, its kind and its branch. */
export const environmentName = ({ project, kind, branch }: EnvironmentRow): string =>
  [project, kind, branch].filter(Boolean).join('/');

export interface EnvironmentRow {
  readonly project: string;
  readonly kind: string;
  readonly branch: string | null;
}
