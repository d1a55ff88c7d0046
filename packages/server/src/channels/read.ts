import type { Queryable } from '../db/connect.ts';
import type { ChannelKey } from './key.ts';
import { decodeSegment, type ChannelRecord, type SegmentRow } from './record.ts';

export const mostPageRecords = 1_000;
export const mostPageBytes = 262_144;

/** Records from one number on, without a gap. */
export interface Records {
  readonly records: readonly ChannelRecord[];
  /** Where the next page begins. */
  readonly next: number;
}

/**
 * The records from number `from` on, at most `limit` of them and about 256 KiB; one at least, if there is any. Those before were
 * trimmed where the first has a larger number.
 */
export async function readRecords(
  sql: Queryable,
  key: ChannelKey,
  from: number,
  limit = mostPageRecords,
): Promise<Records> {
  const most = Math.min(limit, mostPageRecords);
  const rows = await sql<(SegmentRow & { start: string })[]>`
    with log as (select id, start_seq, greatest(start_seq, ${from}) as wanted from channels where id = ${key.id})
    select p.seq, p.at, p.records, l.start_seq as start
      from log l
     cross join lateral (
       select s.seq, s.at, s.records, s.bytes, sum(s.bytes) over (order by s.seq rows unbounded preceding) as total
         from channel_segments s
        where s.channel = l.id
          and s.seq >= coalesce((select b.seq from channel_segments b
                                  where b.channel = l.id and b.seq <= l.wanted order by b.seq desc limit 1), l.wanted)
        order by s.seq limit ${most}) p
     where p.total - p.bytes < ${mostPageBytes}
     order by p.seq`;
  const records: ChannelRecord[] = [];
  const first = Math.max(from, Number(rows[0]?.start ?? 0));
  for (const row of rows) {
    for (const record of decodeSegment(row, first)) {
      if (records.length >= most) break;
      records.push(record);
    }
  }
  const last = records.at(-1);
  return { records, next: last ? last.seq + 1 : from };
}

export interface Tail {
  /** The number that the next record will have. */
  readonly tail: number;
  /** The first record that was not trimmed. */
  readonly start: number;
  /** When the last record came, in milliseconds since 1970. */
  readonly at: number;
  readonly closed: boolean;
}

/** Where channels end, by id; those that do not exist are left out. */
export async function readTails(sql: Queryable, ids: readonly string[]): Promise<Map<string, Tail>> {
  const rows = await sql<
    { id: string; next_seq: string; start_seq: string; last_at: Date | null; closed: boolean }[]
  >`
    select id, next_seq, start_seq, last_at, closed_at is not null as closed from channels where id = any (${ids}::uuid[])`;
  return new Map(
    rows.map((row) => [
      row.id,
      {
        tail: Number(row.next_seq),
        start: Number(row.start_seq),
        at: row.last_at?.getTime() ?? 0,
        closed: row.closed,
      },
    ]),
  );
}
