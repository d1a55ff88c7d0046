import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseRefused, isConflict } from './errors.ts';
import type { Queryable, Sql } from './connect.ts';
import { readSqlFolder, sqlFolder, type SqlFunction, type SqlRelease } from './sql-folder.ts';
import { outdatedSqlViews } from './sql-views.ts';

// An arbitrary number. Every Millrace process takes this advisory lock while it migrates.
const migrationLock = 7_144_001;

export const oldestMajor = 15;

/** How long a migration waits for one lock. Shorter than `deadlock_timeout`, so that no serving process becomes a deadlock victim. */
const lockWaitMs = 200;

export interface MigrateOptions {
  /** How long it retries while other sessions hold locks. Default: one minute. */
  readonly patienceMs?: number;
  /** The folder with the SQL. Default: the one in this package. */
  readonly folder?: URL;
  /** Apply only these schema files, and install no functions or triggers. For a copy of a database that has only these files. */
  readonly only?: readonly string[];
}

export interface Migrated {
  /** Names of the schema files that were missing. */
  readonly applied: string[];
  /** Names of the functions that differed. */
  readonly installed: string[];
}

/**
 * Brings the database up to date under a lock, so that several processes can start at the same time. First it applies missing numbered
 * schema files, each in a separate transaction. Then it installs the functions whose text differs, all in one transaction.
 *
 * Processes of an older release may keep serving. A transaction that encounters their locks rolls back and retries, for up to `patienceMs`.
 * An older release that restarts does not change the functions of a later one. It is rejected if the later one has changed the schema.
 */
export async function migrate(
  sql: Sql,
  { patienceMs = 60_000, folder = sqlFolder, only }: MigrateOptions = {},
): Promise<Migrated> {
  await refuseOldServer(sql);
  const whole = readSqlFolder(folder);
  const release = only ? restrict(whole, only) : whole;
  return sql.session(async (session) => {
    await leaveOutboxSchema(session);
    await session`select pg_advisory_lock(${migrationLock})`;
    try {
      const applied = await applySchema(session, release, patienceMs);
      const installed = await installFunctions(session, release, patienceMs);
      if (!only) await updateViews(session, folder, release.version, patienceMs);
      return { applied, installed };
    } finally {
      await session`select pg_advisory_unlock(${migrationLock})`.catch(() => {});
    }
  });
}

function restrict(release: SqlRelease, only: readonly string[]): SqlRelease {
  const names = new Set(release.schema.map(({ name }) => name));
  refuseNewer(only.filter((name) => !names.has(name)));
  return { ...release, schema: release.schema.filter(({ name }) => only.includes(name)), functions: [] };
}

/**
 * An outbox is in the schema `millrace`. If the role has that name, this schema is first in the search path. The server's objects must not
 * be created there.
 */
async function leaveOutboxSchema(session: Queryable): Promise<void> {
  await session`
    select set_config('search_path', (
      select string_agg(quote_ident(s.name), ', ' order by s.position)
        from unnest(current_schemas(false)) with ordinality as s (name, position) where s.name <> 'millrace'), false)
     where exists (
      select from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'millrace' and c.relname = 'outbox_settings')`;
}

async function applySchema(session: Queryable, release: SqlRelease, patienceMs: number): Promise<string[]> {
  await session`
    create table if not exists migrations (
      name text collate "C" primary key,
      applied_at timestamptz not null default now()
    )`;
  const known = (await session<{ name: string }[]>`select name from migrations`).map((row) => row.name);
  const names = new Set(release.schema.map((file) => file.name));
  refuseNewer(known.filter((name) => !names.has(name)));
  const missing = release.schema.filter((file) => !known.includes(file.name));
  for (const { name, text } of missing) {
    const script = `${text}\n;insert into migrations (name) values ('${name}');`;
    await runGivingWay(session, `The migration ${name}`, script, patienceMs);
  }
  return missing.map((file) => file.name);
}

async function installFunctions(
  session: Queryable,
  { version, functions }: SqlRelease,
  patienceMs: number,
): Promise<string[]> {
  await session`
    create table if not exists installed_functions (
      name text collate "C" primary key,
      checksum text not null,
      -- the release that installed this text
      release text not null,
      installed_at timestamptz not null default now()
    )`;
  // A row whose function no longer exists is ignored.
  const rows = await session<{ name: string; checksum: string; release: string }[]>`
    select i.name, i.checksum, i.release from installed_functions i
     where exists (select from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.proname = i.name)`;
  const checksums = new Map(rows.map((row) => [row.name, row.checksum]));
  if (rows.some((row) => isLater(row.release, version))) {
    refuseNewer(functions.map(({ name }) => name).filter((name) => !checksums.has(name)));
    return [];
  }
  const changed = functions.filter(({ name, checksum }) => checksums.get(name) !== checksum);
  if (changed.length === 0) return [];
  try {
    await runGivingWay(session, 'The functions', scriptOf(changed, version), patienceMs);
  } catch (error) {
    throw isChangedSignature(error) ? new Error(signatureAdvice(error), { cause: error }) : error;
  }
  return changed.map(({ name }) => name);
}

/** Only if they are installed: `millrace sql-views install` does that. */
async function updateViews(
  session: Queryable,
  folder: URL,
  version: string,
  patienceMs: number,
): Promise<void> {
  const outdated = await outdatedSqlViews(session, folder);
  if (!outdated || (outdated.release !== undefined && isLater(outdated.release, version))) return;
  await runGivingWay(session, 'The SQL views', outdated.text, patienceMs);
}

/** Bodies are not checked while they are installed, so that functions may be in any order. */
const scriptOf = (functions: readonly SqlFunction[], version: string): string => `
  set local check_function_bodies = off;
  ${functions.map(({ text }) => text).join('\n')}
  do $check$ declare v_name text;
  begin
    select p.proname into v_name from pg_proc p
     where p.pronamespace = current_schema()::regnamespace and p.proname in (${functions.map(({ name }) => `'${name}'`).join()})
     group by p.proname having count(*) > 1;
    if found then
      raise exception using errcode = '42P13', message = format('function %s has two parameter lists', v_name);
    end if;
  end $check$;
  insert into installed_functions (name, checksum, release)
  values ${functions.map(({ name, checksum }) => `('${name}', '${checksum}', '${version}')`).join()}
  on conflict (name) do update set checksum = excluded.checksum, release = excluded.release, installed_at = now();`;

const isChangedSignature = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === '42P13';

function signatureAdvice(error: Error): string {
  const [, name] = /DROP FUNCTION (\w+)/.exec('hint' in error ? String(error.hint) : '') ?? [];
  return (
    `A function of this release cannot replace the one in the database: ${error.message}${name === undefined ? '' : ` (${name})`}. ` +
    'A function whose parameters or result change needs a new name, because older servers still call it. See: millrace help database'
  );
}

/** Runs a script in a transaction that never waits for a lock long enough to disturb serving processes. */
async function runGivingWay(
  session: Queryable,
  subject: string,
  script: string,
  patienceMs: number,
): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      await session.unsafe(`begin;\nset local lock_timeout = ${lockWaitMs};\n${script}\ncommit;`);
      return;
    } catch (error) {
      await session.unsafe('rollback').catch(() => {});
      if (!isBlocked(error)) throw error;
      if (performance.now() >= end) {
        throw new DatabaseRefused(
          `${subject} could not get the locks for ${patienceMs / 1_000} s: another session has locked a Millrace table; ` +
            'find it with `select pid, state, query from pg_stat_activity`. End its transaction and start again.',
        );
      }
    }
    await sleep(lockWaitMs * Math.random());
  }
}

const isBlocked = (error: unknown): boolean =>
  isConflict(error) || (error instanceof Error && 'code' in error && error.code === '55P03');

async function refuseOldServer(sql: Sql): Promise<void> {
  const [row] = await sql<{ version: string; number: number }[]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number`;
  if (row && row.number < oldestMajor * 10_000) {
    throw new DatabaseRefused(
      `PostgreSQL ${row.version} is too old: Millrace needs ${oldestMajor} or later.`,
    );
  }
}

function refuseNewer(names: readonly string[]): void {
  if (names.length === 0) return;
  throw new DatabaseRefused(
    `This database was migrated by a newer Millrace (${names.toSorted().join(', ')}). Start that version, or use another database.`,
  );
}

/** Compares the numbers of two versions. A pre-release counts as its release. */
function isLater(version: string, other: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(other)];
  const at = left.findIndex((number, index) => number !== right[index]);
  return at >= 0 && (left[at] ?? 0) > (right[at] ?? 0);
}

const numbersOf = (version: string): number[] => (version.split(/[-+]/)[0] ?? '').split('.').map(Number);
