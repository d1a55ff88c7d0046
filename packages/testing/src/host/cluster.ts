import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, migrate, type Database, type Sql } from '@millrace/server';
import { isDamage, removeData, startData, type Data } from './data.ts';

/** The PostgreSQL of the tests, with a migrated template. */
export interface Cluster {
  /** A new, migrated database. */
  create(): Promise<Database>;
  drop(database: Database): Promise<void>;
  stop(): Promise<void>;
}

/** Rate limits use this clock, so that their time moves with that of the server. */
const testClock = `
  create table test_clock (shift_ms float8 not null);
  insert into test_clock values (0);
  create or replace function rate_now() returns timestamptz language sql volatile as
  $$ select clock_timestamp() + shift_ms * interval '1 millisecond' from test_clock $$`;

/** Prepares it for tests. If the data in its folder is damaged, it is recreated. */
export async function openCluster(
  starting: Promise<Data>,
  folder: string,
  onLog: (line: string) => void,
): Promise<Cluster> {
  const { postgres, sql, release } = await starting.then(prepare).catch(async (error: unknown) => {
    if (!isDamage(error)) throw error;
    onLog(`The contents of ${folder} cannot be used and are created again: ${String(error)}`);
    await removeData(folder);
    return prepare(await startData(folder, onLog));
  });
  const inServer = (database: string): Database => ({ ...postgres.connection, database });
  const [template, ready] = [templateOf(release), readyOf(release)];
  const clone = async (name: string): Promise<void> => {
    await sql.unsafe(`create database ${name} template ${template} strategy file_copy`);
  };
  /** A database left behind by the previous host, for the first request. */
  let found = await exists(sql, ready);
  return {
    async create() {
      const name = newName();
      if (found) {
        found = false;
        await sql.unsafe(`alter database ${ready} rename to ${name}`);
      } else await clone(name);
      return inServer(name);
    },
    async drop(database) {
      if (typeof database !== 'string')
        await sql.unsafe(`drop database if exists ${database.database} with (force)`);
    },
    async stop() {
      // The next start does not have to clone. The database gets its name only once it is complete.
      const name = newName();
      if (!found)
        await clone(name)
          .then(() => sql.unsafe(`alter database ${name} rename to ${ready}`))
          .catch((error: unknown) => onLog(String(error)));
      await sql.end({ timeout: 1 });
      await postgres.stop();
    },
  };
}

const newName = (): string => `test_${randomBytes(6).toString('hex')}`;
const templateOf = (release: string): string => `template_${release}`;
const readyOf = (release: string): string => `ready_${release}`;

async function exists(sql: Sql, name: string): Promise<boolean> {
  return (await sql`select from pg_database where datname = ${name}`).length > 0;
}

async function prepare(postgres: Data): Promise<{ postgres: Data; sql: Sql; release: string }> {
  const sql = connect(postgres.connection, { name: 'millrace-testing', max: 4 });
  try {
    return { postgres, sql, release: await prepareTemplate(sql, postgres.connection) };
  } catch (error) {
    await sql.end({ timeout: 1 });
    await postgres.stop();
    throw error;
  }
}

/** Migrates a template for the SQL of this release, once. Drops leftovers of earlier hosts. Returns the name of the release. */
async function prepareTemplate(sql: Sql, server: Exclude<Database, string>): Promise<string> {
  const release = await checksum();
  const template = templateOf(release);
  const rows = await sql<{ name: string }[]>`
    select datname as name from pg_database where datname ~ '^(test|template|ready)_'`;
  const names = rows.map(({ name }) => name);
  for (const name of names)
    if (name !== template && name !== readyOf(release))
      await sql.unsafe(`drop database ${name} with (force)`);
  if (names.includes(template)) return release;
  const draft = newName();
  await sql.unsafe(`create database ${draft}`);
  const inDraft = connect({ ...server, database: draft }, { name: 'millrace-testing', max: 2 });
  try {
    await migrate(inDraft);
    await inDraft.unsafe(testClock);
  } finally {
    // A database with a session in it cannot be renamed or cloned.
    await inDraft.end();
  }
  // A process that dies before this point leaves a draft, which the next one drops.
  await sql.unsafe(`alter database ${draft} rename to ${template}`);
  return release;
}

/** Checksum of the SQL of the installed server. */
async function checksum(): Promise<string> {
  const hash = createHash('sha256').update(testClock);
  const folder = fileURLToPath(new URL('../sql', import.meta.resolve('@millrace/server')));
  for (const name of (await readdir(folder, { recursive: true })).toSorted())
    if (name.endsWith('.sql')) hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}
