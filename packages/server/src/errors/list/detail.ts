import type { ErrorGroupDetail, ErrorOwnership, ErrorStatus } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { ownership } from '../ownership/read.ts';
import { sampleMessage } from './sample.ts';

export interface DetailRow {
  readonly id: string;
  readonly fingerprint: string;
  readonly task: string;
  readonly type: string;
  readonly message: string;
  readonly sample: string | null;
  readonly total: number;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly versions: string[];
  readonly status: ErrorStatus;
  readonly lapsed: boolean;
  readonly resolved_at: Date | null;
  readonly resolved_in_version: string | null;
  readonly resolved_by: string | null;
  readonly ignored_at: Date | null;
  readonly ignored_until: Date | null;
  readonly ignored_reason: string | null;
  readonly ignored_by: string | null;
  readonly ignored_until_rate: number | null;
  readonly ignored_until_total: number | null;
  readonly ownership: ErrorOwnership;
}

const maxAffectedVersions = 5;

/** Columns of a `DetailRow`, from `g`, a row of error_groups. */
export const detailColumns = (sql: Queryable, now: Date) => sql`
  g.id, g.fingerprint, g.task, g.type, g.message, ${sampleMessage(sql)} as sample, g.total::float8 as total, g.first_seen, g.last_seen,
  array(select v.version
          from (select distinct e.version from error_fingerprints f
                  join error_versions e on e.env = f.env and e.fingerprint_id = f.id
                 where f.env = g.env and f.group_id = g.id) e
          join versions v on v.id = e.version order by v.sequence desc limit ${maxAffectedVersions}) as versions,
  g.status, ${lapsed(sql, now)} as lapsed, g.resolved_at, g.resolved_in_version, g.resolved_by,
  g.ignored_at, g.ignored_until, g.ignored_reason, g.ignored_by, g.ignored_until_rate,
  g.ignored_until_total::float8 as ignored_until_total, ${ownership(sql)} as ownership`;

/** An ignore ends at its expiry time, whether or not the end has been recorded. */
export const lapsed = (sql: Queryable, now: Date) =>
  sql`(g.status = 'ignored' and coalesce(g.ignored_until <= ${now}, false))`;

export function detailOf(row: DetailRow): ErrorGroupDetail {
  const ignored = row.status === 'ignored' && !row.lapsed;
  return {
    id: row.id,
    fingerprint: row.fingerprint,
    taskIdentifier: row.task,
    errorType: row.type,
    errorMessage: row.message,
    ...(row.sample !== null && { sampleMessage: row.sample }),
    count: row.total,
    firstSeen: row.first_seen.toISOString(),
    lastSeen: row.last_seen.toISOString(),
    affectedVersions: row.versions,
    status: row.lapsed ? 'unresolved' : row.status,
    resolvedAt: row.resolved_at?.toISOString() ?? null,
    resolvedInVersion: row.resolved_in_version,
    resolvedBy: row.resolved_by,
    ignoredAt: ignored ? (row.ignored_at?.toISOString() ?? null) : null,
    ignoredUntil: ignored ? (row.ignored_until?.toISOString() ?? null) : null,
    ignoredReason: ignored ? row.ignored_reason : null,
    ignoredByUserId: ignored ? row.ignored_by : null,
    ignoredUntilOccurrenceRate: ignored ? row.ignored_until_rate : null,
    ignoredUntilTotalOccurrences: ignored ? row.ignored_until_total : null,
    ownership: row.ownership,
  };
}
