import type { ErrorFingerprint } from '@millrace/contract';
import type { Queryable, Sql } from '../../db/connect.ts';
import { isErrorId } from '../list/retrieve.ts';
import { tally } from '../record/tally.ts';

/** The fingerprints of a group, its own first, then in the order of their first occurrence; undefined if the group is unknown. */
export async function listFingerprints(
  sql: Sql,
  env: number,
  errorId: string,
): Promise<ErrorFingerprint[] | undefined> {
  if (!isErrorId(errorId)) return undefined;
  await tally(sql, env);
  const rows = await sql<
    {
      fingerprint: string;
      type: string;
      message: string;
      total: number;
      first_seen: Date;
      last_seen: Date;
    }[]
  >`
    select f.fingerprint, s.type, s.message, f.total::float8 as total, f.first_seen, f.last_seen
      from error_groups x
      join error_groups g on g.env = x.env and g.id = coalesce(x.merged_into, x.id)
      join error_fingerprints f on f.env = g.env and f.group_id = g.id
      join error_samples s on s.fingerprint_id = f.id
     where x.env = ${env} and x.id = ${errorId} and f.last_seen is not null
     order by f.fingerprint <> g.fingerprint, f.id`;
  // A group has at least one fingerprint.
  if (rows.length === 0) return undefined;
  return rows.map((row) => ({
    fingerprint: row.fingerprint,
    errorType: row.type,
    errorMessage: row.message,
    count: row.total,
    firstSeen: row.first_seen.toISOString(),
    lastSeen: row.last_seen.toISOString(),
  }));
}

/** The fingerprints of groups by id, in the same order. */
export async function fingerprintsOf(
  sql: Queryable,
  env: number,
  groups: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await sql<{ id: string; fingerprints: string[] }[]>`
    select g.id, array_agg(f.fingerprint order by f.fingerprint <> g.fingerprint, f.id) as fingerprints
      from error_groups g join error_fingerprints f on f.env = g.env and f.group_id = g.id
     where g.env = ${env} and g.id = any(${[...groups]}::text[]) and f.last_seen is not null group by g.id`;
  return new Map(rows.map(({ id, fingerprints }) => [id, fingerprints]));
}
