import type { Queryable } from '../db/connect.ts';
import type { ChannelKey } from './key.ts';
import { decodeSegment, type ChannelRecord, type SegmentRow } from './record.ts';

export const maxPageRecords = 1_000;
export const maxPageBytes = 262_144;

/** Consecutive records. */
export interface Records {
  readonly records: readonly ChannelRecord[];
  /** The first number of the next page. */
  readonly next: number;
}

/**
 * Reads the records starting at number `from`, up to `limit` records and about 256 KiB, and at least one if any exist. If the first has a
 * larger number, those before it were trimmed.
 */
export async function readRecords(
  sql: Queryable,
  key: ChannelKey,
  from: number,
  limit = maxPageRecords,
): Promise<Records> {
  const maxRecords = Math.min(limit, maxPageRecords);
  const rows = await sql<(SegmentRow & { start: string })[]>`
    with log as (select id, start_seq, greatest(start_seq, ${from}) as first_seq from channels where id = ${key.id})
    select p.seq, p.at, p.records, l.start_seq as start
      from log l
     cross join lateral (
       select s.seq, s.at, s.records, s.bytes, sum(s.bytes) over (order by s.seq rows unbounded preceding) as total
         from channel_segments s
        where s.channel = l.id
          and s.seq >= coalesce((select b.seq from channel_segments b
                                  where b.channel = l.id and b.seq <= l.first_seq order by b.seq desc limit 1), l.first_seq)
        order by s.seq limit ${maxRecords}) p
     where p.total - p.bytes < ${maxPageBytes}
     order by p.seq`;
  const records: ChannelRecord[] = [];
  const first = Math.max(from, Number(rows[0]?.start ?? 0));
  for (const row of rows) {
    for (const record of decodeSegment(row, first)) {
      if (records.length >= maxRecords) break;
      records.push(record);
    }
  }
  const last = records.at(-1);
  return { records, next: last ? last.seq + 1 : from };
}

/** How long after a run's end its last records may still arrive. Its streams end once this much time passes without a record. */
const quietMs = 1_000;

export interface Tail {
  /** False if the channel was never created and its run or session has ended. */
  readonly exists: boolean;
  /** The number of the next record. */
  readonly tail: number;
  /** The number of the first record that was not trimmed. */
  readonly start: number;
  /** The time of the last record, in milliseconds since 1970. */
  readonly at: number;
  readonly closed: boolean;
  /** When its session was closed or expires, or its run ended, in milliseconds since 1970. Infinity while unknown. */
  readonly endsAt: number;
}

interface TailRow {
  readonly id: string;
  readonly exists: boolean;
  readonly next_seq: string | null;
  readonly start_seq: string | null;
  readonly last_at: Date | null;
  readonly closed: boolean;
  readonly ends_at: number | null;
}

/**
 * Reads the tails of channels, by id. A side channel is created on its first write. A missing one has a tail if its run or session has
 * ended and is omitted otherwise. All of this is one statement, so a snapshot that contains the end of a run also contains all its records.
 */
export async function readTails(sql: Queryable, keys: readonly ChannelKey[]): Promise<Map<string, Tail>> {
  const owners = keys.map(({ name }) => ownerOf(name));
  const rows = await sql<TailRow[]>`
    select i.id, c.id is not null as exists, c.next_seq, c.start_seq, c.last_at, c.closed_at is not null as closed,
           case when i.run is not null and r.id is null then 0
                when i.run is not null and r.finished_at is not null
                then extract(epoch from greatest(r.finished_at, c.last_at)) * 1000 + ${quietMs}::int
                when i.run is not null then null
                when coalesce(c.closed_at, s.closed_at) is not null then 0
                when coalesce(c.expires_at, s.expires_at) is not null
                then extract(epoch from greatest(coalesce(c.expires_at, s.expires_at), c.last_at)) * 1000 + ${quietMs}::int
           end::float8 as ends_at
      from unnest(${keys.map(({ id }) => id)}::uuid[], ${keys.map(({ env }) => env)}::int[],
                  ${owners.map(({ run }) => run ?? null)}::text[],
                  ${owners.map(({ session }) => session ?? null)}::text[]) as i (id, env, run, session)
      left join channels c on c.id = i.id
      left join runs r on r.env = i.env and r.id = i.run
      left join lateral (
        select s.closed_at, s.expires_at from sessions s
         where c.id is null and s.env = i.env and (s.external_id = i.session or s.id = i.session) limit 1) s on true
     where c.id is not null or i.run is not null or s.closed_at is not null or s.expires_at is not null`;
  const found = new Map<string, Tail>();
  for (const row of rows) {
    const endsAt = row.ends_at ?? Infinity;
    if (!row.exists && endsAt === Infinity) continue;
    found.set(row.id, {
      exists: row.exists,
      tail: Number(row.next_seq ?? 0),
      start: Number(row.start_seq ?? 0),
      at: row.last_at?.getTime() ?? 0,
      closed: row.closed,
      endsAt,
    });
  }
  return found;
}

/** The run or session of a channel, from its name. */
function ownerOf(name: string): { run?: string; session?: string } {
  const [, run] = /^r\/([^/]+)\//.exec(name) ?? [];
  if (run !== undefined) return { run };
  const [, session] = /^s\/(?:in|out)\/[^/]*\/(.*)$/s.exec(name) ?? [];
  return session === undefined ? {} : { session };
}
