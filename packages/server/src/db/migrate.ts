import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseRefused, isDeadlock } from './errors.ts';
import type { Queryable, Sql } from './connect.ts';

const folder = new URL('../../migrations/', import.meta.url);

// Any number; every Millrace process takes this advisory lock while it migrates.
const migrationLock = 7_144_001;

export const oldestMajor = 15;

/** How long a migration waits for one lock. Shorter than a server waits before it looks for deadlocks: who serves loses none to us. */
const lockWaitMs = 200;

/**
 * Brings the schema up to date: numbered, forward-only files, each in its own transaction, under a lock that lets several
 * processes start at once. Processes of an older version may go on serving meanwhile: a migration that meets their transactions lets go of
 * what it has locked and tries again, for `patienceMs` (default a minute). Refuses a PostgreSQL before 15 and a schema that a newer
 * Millrace has migrated.
 */
export async function migrate(
  sql: Sql,
  { patienceMs = 60_000 }: { readonly patienceMs?: number } = {},
): Promise<{ applied: string[] }> {
  await refuseOldServer(sql);
  const files = (await readdir(folder)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).toSorted();
  return sql.session(async (session) => {
    await session`select pg_advisory_lock(${migrationLock})`;
    try {
      return { applied: await applyMissing(session, files, patienceMs) };
    } finally {
      await session`select pg_advisory_unlock(${migrationLock})`.catch(() => {});
    }
  });
}

async function applyMissing(
  session: Queryable,
  files: readonly string[],
  patienceMs: number,
): Promise<string[]> {
  await session`
    create table if not exists migrations (
      name text collate "C" primary key,
      applied_at timestamptz not null default now()
    )`;
  const known = new Set(
    (await session<{ name: string }[]>`select name from migrations`).map((row) => row.name),
  );
  refuseNewerSchema(known, files);
  const missing = files.filter((name) => !known.has(name));
  for (const name of missing) {
    await apply(session, name, await readFile(new URL(name, folder), 'utf8'), patienceMs);
  }
  return missing;
}

async function apply(session: Queryable, name: string, text: string, patienceMs: number): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      await session.unsafe(
        `begin;\nset local lock_timeout = ${lockWaitMs};\n${text}\n;insert into migrations (name) values ('${name}');\ncommit;`,
      );
      return;
    } catch (error) {
      await session.unsafe('rollback').catch(() => {});
      if (!isHeldUp(error)) throw error;
      if (performance.now() >= end) {
        throw new DatabaseRefused(
          `The migration ${name} could not have its locks for ${patienceMs / 1_000} s: another session holds a table of Millrace, ` +
            'as `select pid, state, query from pg_stat_activity` shows. End its transaction and start again.',
        );
      }
    }
    await sleep(lockWaitMs * Math.random());
  }
}

const isHeldUp = (error: unknown): boolean =>
  isDeadlock(error) || (error instanceof Error && 'code' in error && error.code === '55P03');

async function refuseOldServer(sql: Sql): Promise<void> {
  const [row] = await sql<{ version: string; number: number }[]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number`;
  if (row && row.number < oldestMajor * 10_000) {
    throw new DatabaseRefused(
      `PostgreSQL ${row.version} is too old: Millrace needs ${oldestMajor} or later.`,
    );
  }
}

function refuseNewerSchema(known: ReadonlySet<string>, files: readonly string[]): void {
  const unknown = [...known].filter((name) => !files.includes(name)).toSorted();
  if (unknown.length > 0) {
    throw new DatabaseRefused(
      `This database was migrated by a newer Millrace (${unknown.join(', ')}). Start that version, or use another database.`,
    );
  }
}
