import { setTimeout } from 'node:timers/promises';
import { masterKeyCheckContext, promoteNextKey, readNextKey } from '../auth/master-key.ts';
import { seal, switchMasterKey, unseal, type MasterKey } from '../auth/seal.ts';
import type { Queryable, Sql } from '../db/connect.ts';

/** A sealed column. By convention its name begins with `sealed` and its encryption context is `<table>:<id>`. */
interface SealedColumn {
  readonly table: string;
  readonly column: string;
}

/** Tables with a different context: its prefix, and an SQL expression for the rest. */
const exceptions: Readonly<Record<string, { readonly of: string; readonly id: string }>> = {
  variables: { of: 'variables', id: "env || ':' || name" },
  variable_changes: { of: 'variables', id: "env || ':' || name" },
  // A replay copies rows with their sealed values.
  run_steps: { of: 'run_steps', id: 'sealed_id' },
  master_key_check: { of: 'master_key_check', id: "'only_row'" },
};

/** All sealed columns. The check comes last, so that a server with the old key can still start during the rotation. */
const sealedColumns = (sql: Sql): Promise<SealedColumn[]> => sql<SealedColumn[]>`
  select quote_ident(table_name) as table, quote_ident(column_name) as column from information_schema.columns
   where table_schema = (select x.relnamespace::regnamespace::text from pg_class x where x.oid = 'secret_keys'::regclass)
     and data_type = 'bytea' and column_name like 'sealed%'
   order by table_name = 'master_key_check', table_name, column_name`;

export interface Rotated {
  /** Number of values that were re-encrypted. */
  readonly resealed: number;
}

/** Rows per transaction: few, so that writers wait only briefly. */
const batch = 500;

/**
 * Re-encrypts everything sealed with `masterKey.previous` with `masterKey`, while servers that have both keys keep running. It can be
 * interrupted and restarted. Rejects with `UnsealError` if neither key decrypts a row and leaves that batch unchanged.
 */
export async function rotateMasterKey(sql: Sql, masterKey: MasterKey): Promise<Rotated> {
  const { previous } = masterKey;
  if (!previous) throw new TypeError('No previous master key to rotate from.');
  await refuseOthers(sql, masterKey, previous);
  let resealed = 0;
  for (const sealedColumn of await sealedColumns(sql)) {
    for (;;) {
      const count = await sql.begin((tx) => resealSome(tx, masterKey, previous, sealedColumn));
      resealed += count;
      if (count < batch) break;
    }
  }
  return { resealed };
}

/**
 * The rotation for a single server with a key file: switches to the next key, re-encrypts everything while serving, and then replaces the key
 * file. An interrupted rotation continues at the next call. False if no rotation was requested.
 */
export async function changeKeyFile(sql: Sql, masterKey: MasterKey, file: string): Promise<boolean> {
  const next = await readNextKey(file);
  if (!next) return false;
  switchMasterKey(masterKey, next);
  if (masterKey.previous) {
    await writersGone(sql);
    await rotateMasterKey(sql, masterKey);
  }
  await promoteNextKey(file);
  return true;
}

/** Waits until all transactions that may hold values sealed with the previous key have ended. */
async function writersGone(sql: Sql): Promise<void> {
  // A sealed value reaches its first statement without waiting for anything, so one second is ample.
  await setTimeout(1_000);
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  for (;;) {
    const older = await sql`
      select from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
         and xact_start < ${row?.now ?? new Date()} limit 1`;
    if (older.length === 0) return;
    await setTimeout(100);
  }
}

/** Throws before anything is written if neither key belongs to this database. */
async function refuseOthers(sql: Sql, masterKey: MasterKey, previous: MasterKey): Promise<void> {
  const [row] = await sql<{ sealed: Buffer }[]>`select sealed from master_key_check`;
  if (row) unseal({ ...masterKey, previous }, row.sealed, masterKeyCheckContext);
}

async function resealSome(
  tx: Queryable,
  masterKey: MasterKey,
  previous: MasterKey,
  { table, column }: SealedColumn,
): Promise<number> {
  const { of, id } = exceptions[table] ?? { of: table, id: 'id' };
  // Names come from the catalog, quoted; the key id and the sealed bytes are hex digits.
  const rows = await tx.unsafe<{ ctid: string; purpose: string; sealed: Buffer }[]>(
    `select ctid::text, '${of}:' || ${id} as purpose, ${column} as sealed from ${table}
      where substring(${column} from 2 for 4) = '\\x${previous.id.toString('hex')}'
      limit ${batch} for update`,
  );
  if (rows.length === 0) return 0;
  const anew = rows.map(({ purpose, sealed }) =>
    seal(masterKey, unseal(previous, sealed, purpose), purpose).toString('hex'),
  );
  await tx.unsafe(
    `update ${table} t set ${column} = decode(n.sealed, 'hex')
       from unnest('{${rows.map((row) => `"${row.ctid}"`).join()}}'::tid[], '{${anew.join()}}'::text[]) as n (purpose, sealed)
      where t.ctid = n.purpose`,
  );
  return rows.length;
}
