import { texts } from '../db/columns.ts';
import type { Queryable } from '../db/connect.ts';
import { partsOf, segmentsOf } from './segments.ts';
import type { Batch, Outcome } from './write.ts';

/** The everyday case. What is not as it hopes is left out of the answer, and of it nothing was written. */
export async function writePlainly(
  sql: Queryable,
  batches: readonly Batch[],
  time: Date,
): Promise<readonly (Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = batches.map(() => undefined);
  const plain = batches.flatMap((batch, place) => {
    const segments = segmentsOf(batch);
    const [segment] = segments;
    const [first] = batch.appends;
    const isPlain = segment && first && segments.length === 1 && !hasConditions(batch);
    return isPlain ? [{ batch, place, segment }] : [];
  });
  if (plain.length === 0) return outcomes;
  const at = sql`${time}::timestamptz`;
  const parts = plain.map(({ batch }) => partsOf([batch]));
  const hasParts = parts.some(({ ids }) => ids.length > 0);
  const rows = await sql<{ channel: string; seq: string; at: Date }[]>`
    with moved as (
      update channels c set next_seq = c.next_seq + i.count, last_at = greatest(c.last_at, ${at})
        from unnest(
               ${plain.map(({ batch }) => batch.key.id)}::uuid[],
               ${plain.map(({ segment }) => segment.count)}::int[],
               ${plain.map(({ segment }) => segment.bytes)}::int[],
               ${texts(sql, plain, ({ segment }) => segment.records)},
               ${hasParts ? parts.map(({ ids }) => `{${ids}}`) : null}::text[],
               ${hasParts ? parts.map(({ offsets }) => `{${offsets}}`) : null}::text[],
               ${hasParts ? parts.map(({ counts }) => `{${counts}}`) : null}::text[]
             ) as i (id, count, bytes, records, parts, distances, counts)
       where c.id = i.id and c.closed_at is null and (c.expires_at is null or c.expires_at > ${at})
      returning c.id, c.next_seq - i.count as seq, c.last_at as at, i.count, i.bytes, i.records, i.parts, i.distances, i.counts
    ), noted as (
      insert into channel_parts (channel, part, seq, count)
      select m.id, q.part, m.seq + q.distance, q.count
        from moved m cross join lateral unnest(m.parts::uuid[], m.distances::int[], m.counts::int[]) as q (part, distance, count)
    )
    insert into channel_segments (channel, seq, count, bytes, at, records)
    select m.id, m.seq, m.count, m.bytes, m.at, m.records from moved m
    returning channel, seq, at`.catch((error: unknown) => {
    // A part that is known already; the general way says which.
    if (error instanceof Error && 'code' in error && error.code === '23505') return [];
    throw error;
  });
  const written = new Map(rows.map((row) => [row.channel, row]));
  for (const { batch, place } of plain) {
    const row = written.get(batch.key.id);
    if (row) outcomes[place] = { state: 'ok', tail: Number(row.seq), at: row.at.getTime() };
  }
  return outcomes;
}

/** They are about a channel's state before the write, so that they are the first append's; the new token may be anybody's. */
const hasConditions = ({ appends }: Batch): boolean =>
  appends.some(
    ({ options: { matchSeqNum, fencingToken, newFencingToken } }) =>
      matchSeqNum !== undefined || fencingToken !== undefined || newFencingToken !== undefined,
  );
