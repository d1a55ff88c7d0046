import type { Client } from 'pg';
import { configOf, openClient } from '../../db/config.ts';
import { connect, type Database, type Sql } from '../../db/connect.ts';
import { DatabaseRefused } from '../../db/errors.ts';
import { migrate } from '../../db/migrate.ts';
import { hasSqlViews, installSqlViews } from '../../db/sql-views.ts';
import { outboxSql } from '../../outbox/rows.ts';
import { missingFrom, readRelations, type Index, type Relations, type Table } from './relations.ts';
import { copyTable } from './table.ts';

export interface CopyDatabase {
  /** The existing Millrace database. Nothing may write to it during the copy. */
  readonly from: Database;
  /** An empty database. */
  readonly to: Database;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: CopyProgress) => void;
  /** Called for slow steps after the rows have been copied. */
  readonly onStep?: (what: string) => void;
}

/** Bytes are the sizes of the tables on disk. Within a table they are divided among its estimated number of rows. */
export interface CopyProgress {
  readonly table: string;
  readonly copied: number;
  readonly total: number;
}

export interface CopiedDatabase {
  readonly tables: number;
  readonly rows: number;
  /** Indexes that were added by hand to the old database and could not be created in the new one. */
  readonly indexesLeft: readonly string[];
}

/** Tables that every Millrace database maintains for itself. */
const ownTables = new Set(['public.migrations', 'public.installed_functions']);

/**
 * Copies a Millrace database to another PostgreSQL, of any version: tables created by the schema files of the old database, all rows in one
 * snapshot, sequences, then the additions of this release. Rejects a database of a newer Millrace, and one that contains other objects.
 */
export async function copyDatabase(options: CopyDatabase): Promise<CopiedDatabase> {
  const { from, to, signal, onProgress, onStep } = options;
  const source = connect(from, { name: 'millrace copy', max: 1, kind: 'bulk' });
  const target = connect(to, { name: 'millrace copy', max: 1, kind: 'bulk' });
  try {
    await refuseOthers(source);
    const old = await readRelations(source);
    // No server has ever been started on it.
    if (!old.tables.some(({ name }) => name === 'public.migrations')) {
      refuseMissing(missingFrom(await readRelations(target), old));
      return { tables: 0, rows: 0, indexesLeft: [] };
    }
    const applied = await source<{ name: string }[]>`select name from public.migrations`;
    await migrate(target, { only: applied.map(({ name }) => name) });
    await installOutbox(source, target, old);
    const created = await readRelations(target);
    refuseMissing(missingFrom(created, old));
    const tables = old.tables.filter(({ name }) => !ownTables.has(name));
    const rows = await copyAll({ from, to, signal, onProgress, tables, sequences: old.sequences });
    onStep?.('indexes and statistics to be created');
    const indexesLeft = await addIndexes(target, old, created);
    // Functions are installed after the rows, because they include the triggers.
    await migrate(target);
    if (await hasSqlViews(source)) await target.begin(installSqlViews);
    await target.unsafe('analyze');
    return { tables: tables.length, rows, indexesLeft };
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}

/** A cluster may contain other databases and large objects, which would not be copied. */
async function refuseOthers(source: Sql): Promise<void> {
  const databases = await source<{ name: string }[]>`
    select datname as name from pg_database where not datistemplate and datname not in ('postgres', current_database())`;
  const objects = await source`select from pg_largeobject_metadata limit 1`;
  refuseMissing([
    ...databases.map(({ name }) => `the database ${name}`),
    ...(objects.length > 0 ? ['large objects'] : []),
  ]);
}

function refuseMissing(names: readonly string[]): void {
  if (names.length === 0) return;
  throw new DatabaseRefused(
    `This database contains objects that Millrace did not create and does not copy: ${names.slice(0, 5).join(', ')}. Move them to another database and drop them here first.`,
  );
}

/** An outbox may be in the same database, in a separate schema. */
async function installOutbox(source: Sql, target: Sql, { tables }: Relations): Promise<void> {
  if (!tables.some(({ name }) => name === 'millrace.outbox_settings')) return;
  const [row] = await source<{ environment: string }[]>`select environment from millrace.outbox_settings`;
  if (row) await target.unsafe(await outboxSql(row.environment));
}

interface CopyAll extends CopyDatabase {
  readonly onProgress?: CopyDatabase['onProgress'] | undefined;
  readonly tables: readonly Table[];
  readonly sequences: readonly string[];
}

async function copyAll({ from, to, signal, onProgress, tables, sequences }: CopyAll): Promise<number> {
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let copied = 0;
  let rows = 0;
  const show = (table: Table, rowsSoFar: number): void => {
    const share = table.rowsEstimate < 1 ? 0 : Math.min(1, rowsSoFar / table.rowsEstimate);
    onProgress?.({ table: table.name, copied: copied + share * table.bytes, total });
  };
  const source = await open(from);
  try {
    const target = await open(to);
    try {
      await source.query('begin isolation level repeatable read, read only');
      await target.query('begin');
      // Not checked, because the source's rows satisfy its foreign keys, but are copied in a different order.
      await target.query('set local session_replication_role = replica');
      // Schema files insert rows too.
      await target.query(`truncate ${tables.map(({ name }) => name).join(', ')}`);
      for (const table of tables) {
        signal.throwIfAborted();
        let rowsSoFar = 0;
        const onRows = (count: number): void => {
          rowsSoFar += count;
          show(table, rowsSoFar);
        };
        const count = await copyTable(source, target, table, { signal, onRows });
        await verifyCount(target, table, count);
        rows += count;
        copied += table.bytes;
      }
      for (const name of sequences) await copySequence(source, target, name);
      await target.query('commit');
      await source.query('commit');
      return rows;
    } finally {
      await target.end();
    }
  } finally {
    await source.end();
  }
}

/** Its connections are cut when their PostgreSQL is stopped, which is not an error in this process. */
async function open(database: Database): Promise<Client> {
  const opening = configOf(database, 'millrace copy', {});
  const client = new opening.Client(opening.config);
  await openClient(client, opening);
  return client;
}

async function verifyCount(target: Client, { name }: Table, expected: number): Promise<void> {
  const { rows } = await target.query<{ count: string }>(`select count(*) from ${name}`);
  if (Number(rows[0]?.count) !== expected)
    throw new Error(`${name} has ${rows[0]?.count} rows, but ${expected} were copied`);
}

async function copySequence(source: Client, target: Client, name: string): Promise<void> {
  const { rows } = await source.query<{ last: string; called: boolean }>(
    `select last_value::text as last, is_called as called from ${name}`,
  );
  if (rows[0]) await target.query('select setval($1, $2, $3)', [name, rows[0].last, rows[0].called]);
}

/** Indexes that were added by hand. */
async function addIndexes(target: Sql, old: Relations, created: Relations): Promise<string[]> {
  const left: string[] = [];
  const isNew = ({ name }: Index): boolean => !created.indexes.some((known) => known.name === name);
  for (const { name, definition } of old.indexes.filter(isNew)) {
    await target.unsafe(definition).catch(() => left.push(name));
  }
  return left;
}
