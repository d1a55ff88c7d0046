import type { Fragment, Queryable, Sql } from '../../db/connect.ts';
import { columns, countsOf, type Columns } from './columns.ts';
import { noCounts, pack, sum, unpack, type Counts } from './counts.ts';

/** So many fingerprints are looked up one by one until they are packed. */
const fewMoves = 500;

export type MoveRow = { readonly size: number; readonly moves: Buffer } | (Columns & { readonly size: null });

/**
 * Which fingerprints are in the group of another: packed up to one of them, those that were met after it looked up. What they
 * say: `movesIn`.
 */
export const movesOf = (sql: Queryable, env: number): Promise<MoveRow[]> => sql<MoveRow[]>`
  select size, moves, null as fingerprints, null as counts from error_moves where env = ${env}
  union all
  select null, null, m.* from (select ${columns(sql)} from (${movedAfter(sql, env)}) f) m where m.counts is not null`;

/** The fingerprints, and in the place of counts the numbers of their groups. Good until the next are unpacked. */
export function movesIn(rows: readonly MoveRow[]): Counts {
  const [some = noCounts, more] = rows.map((row) =>
    row.size === null ? countsOf(row) : unpack(row.moves, row.size),
  );
  return more ? sum([some, more].map((one) => ({ sign: 1, ...one }))) : some;
}

/** One by one: to join everything to everything is what the planner would rather do. */
const movedAfter = (sql: Queryable, env: number): Fragment => sql`
  select f.id, o.id as n
    from error_fingerprints f
   cross join lateral (
     select o.id from error_fingerprints o
      where o.env = f.env and o.group_id = f.group_id and o.own_group = o.group_id limit 1) o
   where f.env = ${env} and f.group_id <> f.own_group
     and f.id > coalesce((select m.until from error_moves m where m.env = ${env}), 0)`;

/**
 * Packs them anew. Whoever moves fingerprints that were met before does so in the same transaction: moving them makes the database forget what
 * was packed. Those that are in another's group from the beginning come after all that were packed, because both hold the lock of the environment.
 */
export async function packMoves(tx: Queryable, env: number): Promise<void> {
  await tx`delete from error_moves where env = ${env}`;
  const [all] = await tx<
    Columns[]
  >`select * from (select ${columns(tx)} from (${movedAfter(tx, env)}) f) m where m.counts is not null`;
  const moves = all ? countsOf(all) : noCounts;
  if (moves.counts.length === 0) return;
  await tx`
    insert into error_moves (env, until, size, moves)
    values (${env}, ${moves.fingerprints.at(-1)}, ${moves.counts.length}, ${pack(moves)})`;
}

/** Packs those of each environment in which many are not: a background job. */
export async function packNewMoves(sql: Sql, few = fewMoves): Promise<void> {
  const due = await sql<{ env: number }[]>`
    select e.id as env from environments e left join error_moves m on m.env = e.id
     where exists (select from error_fingerprints f
                    where f.env = e.id and f.group_id <> f.own_group and f.id > coalesce(m.until, 0)
                    order by f.id offset ${few} limit 1)`;
  for (const { env } of due) {
    await sql.begin(async (tx) => {
      await tx`select lock_errors(${env})`;
      await packMoves(tx, env);
    });
  }
}
