import { maxErrorVersions, type Operations, type Reply } from '@millrace/contract';
import type { Sql } from '../../db/connect.ts';
import { currentId } from '../life/change.ts';
import { tally } from '../record/tally.ts';
import { isErrorId } from './retrieve.ts';

interface Row {
  readonly id: number;
  readonly version: string;
  readonly total: number;
  readonly first_seen: Date;
  readonly last_seen: Date;
}

/**
 * The versions that a group occurred on, newest first, and the one that it first occurred on; undefined if the group is unknown. Reads one row
 * for each version and fingerprint of the group, however often it occurred.
 */
export async function listErrorVersions(
  sql: Sql,
  env: number,
  errorId: string,
): Promise<Reply<Operations['listErrorVersions']> | undefined> {
  if (!isErrorId(errorId)) return undefined;
  await tally(sql, env);
  const group = await currentId(sql, env, errorId);
  if (group === undefined) return undefined;
  const rows = await sql<Row[]>`
    select v.id, v.version, sum(e.total)::float8 as total, min(e.first_seen) as first_seen, max(e.last_seen) as last_seen
      from error_fingerprints f
      join error_versions e on e.env = f.env and e.fingerprint_id = f.id
      join versions v on v.env = f.env and v.id = e.version
     where f.env = ${env} and f.group_id = ${group}
     group by v.id order by v.sequence desc`;
  // If two versions have the same time, this is the older one, which is later in the list.
  const first = rows.reduce<Row | undefined>(
    (earliest, row) => (earliest && earliest.first_seen < row.first_seen ? earliest : row),
    undefined,
  );
  const [previous] = first
    ? await sql<{ version: string }[]>`
        select v.version from versions v where v.env = ${env} and v.id = previous_version(${env}, ${first.id})`
    : [];
  return {
    introducedIn: first ? { version: first.version, previous: previous?.version ?? null } : null,
    data: rows.slice(0, maxErrorVersions).map((row) => ({
      version: row.version,
      count: row.total,
      firstSeen: row.first_seen.toISOString(),
      lastSeen: row.last_seen.toISOString(),
    })),
  };
}
