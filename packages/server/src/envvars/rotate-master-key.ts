import { setTimeout } from 'node:timers/promises';
import { checkPlace, keepNextKey, readNextKey } from '../auth/master-key.ts';
import { seal, turnMasterKey, unseal, type MasterKey } from '../auth/seal.ts';
import type { Queryable, Sql } from '../db/connect.ts';

/** A column that holds something sealed. By convention its name begins with `sealed` and its place is `<table>:<id>`. */
interface SealedColumn {
  readonly table: string;
  readonly column: string;
}

/** Where it is otherwise: an expression for what follows the table's name in the place, and that name. */
const otherwise: Readonly<Record<string, { readonly of: string; readonly id: string }>> = {
  variables: { of: 'variables', id: "env || ':' || name" },
  variable_changes: { of: 'variables', id: "env || ':' || name" },
  master_key_check: { of: 'master_key_check', id: "'only_row'" },
};

/** All of them, whichever part of the program they belong to; the check last: whoever starts meanwhile must not be turned away. */
const sealedColumns = (sql: Sql): Promise<SealedColumn[]> => sql<SealedColumn[]>`
  select quote_ident(table_name) as table, quote_ident(column_name) as column from information_schema.columns
   where table_schema = current_schema() and data_type = 'bytea' and column_name like 'sealed%'
   order by table_name = 'master_key_check', table_name, column_name`;

export interface Rotated {
  /** How many values were sealed anew. */
  readonly resealed: number;
}

/** Rows of one transaction: short, so that writers hardly wait. */
const batch = 500;

/**
 * Seals everything anew with `masterKey` that `masterKey.previous` sealed, while servers that know both keys serve on. It may be
 * stopped and run again. Rejects with `SealBroken`, having changed nothing of it, when a row opens with neither key.
 */
export async function rotateMasterKey(sql: Sql, masterKey: MasterKey): Promise<Rotated> {
  const { previous } = masterKey;
  if (!previous) throw new TypeError('There is no previous key to change from.');
  await refuseOthers(sql, masterKey, previous);
  let resealed = 0;
  for (const place of await sealedColumns(sql)) {
    for (;;) {
      const count = await sql.begin((tx) => resealSome(tx, masterKey, previous, place));
      resealed += count;
      if (count < batch) break;
    }
  }
  return { resealed };
}

/**
 * The same for the process that alone serves a database and keeps its key in a file: turns to the key that was asked for, seals
 * everything anew while it serves on, and only then lets go of the key before. Stopped midway, it goes on when it is called again. False
 * when no other key is asked for.
 */
export async function changeKeyFile(sql: Sql, masterKey: MasterKey, file: string): Promise<boolean> {
  const next = await readNextKey(file);
  if (!next) return false;
  turnMasterKey(masterKey, next);
  if (masterKey.previous) {
    await writersGone(sql);
    await rotateMasterKey(sql, masterKey);
  }
  await keepNextKey(file);
  return true;
}

/** What was sealed with the key before was sealed by now; waits until it was also committed. */
async function writersGone(sql: Sql): Promise<void> {
  // Between sealing and the first statement with what was sealed lies nothing that waits.
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

/** Looks at the check before anything is written: two keys of which neither is this database's change nothing. */
async function refuseOthers(sql: Sql, masterKey: MasterKey, previous: MasterKey): Promise<void> {
  const [row] = await sql<{ sealed: Buffer }[]>`select sealed from master_key_check`;
  if (row) unseal({ ...masterKey, previous }, row.sealed, checkPlace);
}

async function resealSome(
  tx: Queryable,
  masterKey: MasterKey,
  previous: MasterKey,
  { table, column }: SealedColumn,
): Promise<number> {
  const { of, id } = otherwise[table] ?? { of: table, id: 'id' };
  // Names come from the catalogue, quoted; the key's four bytes and the sealed ones are hex digits.
  const rows = await tx.unsafe<{ ctid: string; place: string; sealed: Buffer }[]>(
    `select ctid::text, '${of}:' || ${id} as place, ${column} as sealed from ${table}
      where substring(${column} from 2 for 4) = '\\x${previous.id.toString('hex')}'
      limit ${batch} for update`,
  );
  if (rows.length === 0) return 0;
  const anew = rows.map(({ place, sealed }) =>
    seal(masterKey, unseal(previous, sealed, place), place).toString('hex'),
  );
  await tx.unsafe(
    `update ${table} t set ${column} = decode(n.sealed, 'hex')
       from unnest('{${rows.map((row) => `"${row.ctid}"`).join()}}'::tid[], '{${anew.join()}}'::text[]) as n (place, sealed)
      where t.ctid = n.place`,
  );
  return rows.length;
}
