import type { RunStatus } from '@millrace/contract';
import type { SerializedError } from '@millrace/contract/runner';
import type { Queryable } from '../db/connect.ts';
import { relatedColumns, whereabouts, type RelatedRow } from '../runs/retrieve/retrieve.ts';

/** A run in the form that subscribers receive. */
export interface RunSnapshot extends RelatedRow {
  readonly env: number;
  /** A digest of everything that can change. Rows of a run with the same digest are equal. */
  readonly digest: string;
  readonly status: RunStatus;
  readonly payload: string | null;
  readonly payload_type: string | null;
  readonly output: string | null;
  readonly output_type: string | null;
  readonly error: SerializedError | null;
  readonly batch_id: string | null;
  readonly streams: string[] | null;
}

/** A run and the digest of its last known state; undefined if it has not been read yet. */
export interface KnownRun {
  readonly env: number;
  readonly id: string;
  readonly digest: string | undefined;
}

/** Reads the runs that have changed, by index; null for a deleted run. */
export async function readChanged(
  sql: Queryable,
  known: readonly KnownRun[],
): Promise<Map<number, RunSnapshot | null>> {
  const rows = await sql<(RunSnapshot & { ix: number; missing: boolean })[]>`
    select (i.ix - 1)::int as ix, s.id is null as missing, s.*
      from unnest(${known.map(({ env }) => env)}::int[], ${known.map(({ id }) => id)}::text[],
                  ${known.map(({ digest }) => digest ?? null)}::text[]) with ordinality as i (env, id, digest, ix)
      left join lateral (
        select f.*, substr(md5(jsonb_build_array(f.status, f.version, f.attempt, f.updated_at, f.started_at, f.finished_at,
                                                 f.delayed_until, f.tags, f.streams, md5(f.metadata))::text), 1, 16) as digest
          from (
            select f.env, ${relatedColumns(sql)}, f.payload, f.payload_type, f.output, f.output_type, f.error, f.batch_id, f.streams
              from runs f ${whereabouts(sql)}
             where f.env = i.env and f.id = i.id offset 0) f) s on true
     where s.digest is distinct from i.digest or s.id is null`;
  return new Map(rows.map((row) => [row.ix, row.missing ? null : row]));
}
