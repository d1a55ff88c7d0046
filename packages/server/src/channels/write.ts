import type { Queryable, Sql } from '../db/connect.ts';
import type { Pending } from './append.ts';
import type { ChannelKey } from './key.ts';
import type { AppendRefusal } from './refused.ts';

/** What one write appends to one channel. */
export interface Batch {
  readonly key: ChannelKey;
  readonly appends: readonly Pending[];
  /** Appends with the part id of one of `appends`. */
  readonly twins: ReadonlyMap<Pending, readonly Pending[]>;
}

/** What became of a batch. `tail` is the number its first record has, or would have had. */
export type Outcome =
  | { readonly state: 'ok' | AppendRefusal; readonly tail: number; readonly at: number }
  | {
      readonly state: 'repeat';
      readonly tail: number;
      readonly at: number;
      /** By digest of the part id. */
      readonly repeated: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
    };

/** Writes batches in one commit; answers one outcome a batch, in order. */
export type WriteBatches = (batches: readonly Batch[]) => Promise<readonly Outcome[]>;

/** So that a reader in the middle of a log reads pages and not megabytes. */
const mostSegmentBytes = 262_144;

interface Segment {
  readonly offset: number;
  readonly count: number;
  readonly bytes: number;
  readonly records: string;
}

export function createWrite(sql: Sql, now: () => number): WriteBatches {
  return async (batches) => {
    for (;;) {
      try {
        const at = new Date(now());
        const [only] = batches;
        if (batches.length === 1 && only) {
          const written = await writePlainly(sql, only, at);
          if (written) return [written];
        }
        return await writeAll(sql, batches, at);
      } catch (error) {
        // It met another write and nothing of it remains.
        const code = error instanceof Error && 'code' in error ? error.code : '';
        if (code !== '40P01' && code !== '40001') throw error;
      }
    }
  };
}

/** The everyday case, one statement and no function: undefined when something is not as it hopes, and then nothing was written. */
async function writePlainly(sql: Queryable, batch: Batch, at: Date): Promise<Outcome | undefined> {
  const segments = segmentsOf(batch);
  const [segment] = segments;
  const [first] = batch.appends;
  if (!segment || !first || segments.length > 1 || hasConditions(first)) return undefined;
  const { id } = batch.key;
  const { count } = segment;
  try {
    const parts = partsOf(batch, 1);
    const [row] =
      parts.ids.length === 0
        ? await sql<{ seq: string; at: Date }[]>`
            with moved as (
              update channels set next_seq = next_seq + ${count}::int, last_at = greatest(last_at, ${at})
               where id = ${id} and closed_at is null and (expires_at is null or expires_at > ${at})
              returning next_seq - ${count}::int as seq, last_at as at
            )
            insert into channel_segments (channel, seq, count, bytes, at, records)
            select ${id}::uuid, seq, ${count}::int, ${segment.bytes}::int, at, ${segment.records} from moved
            returning seq, at`
        : await sql<{ seq: string; at: Date }[]>`
            with moved as (
              update channels set next_seq = next_seq + ${count}::int, last_at = greatest(last_at, ${at})
               where id = ${id} and closed_at is null and (expires_at is null or expires_at > ${at})
              returning next_seq - ${count}::int as seq, last_at as at
            ), noted as (
              insert into channel_parts (channel, part, seq, count)
              select ${id}::uuid, q.part, m.seq + q.distance, q.count
                from moved m, unnest(${parts.offsets}::int[], ${parts.counts}::int[], ${parts.ids}::uuid[]) as q (distance, count, part)
            )
            insert into channel_segments (channel, seq, count, bytes, at, records)
            select ${id}::uuid, seq, ${count}::int, ${segment.bytes}::int, at, ${segment.records} from moved
            returning seq, at`;
    return row && { state: 'ok', tail: Number(row.seq), at: row.at.getTime() };
  } catch (error) {
    // A part that is known already; the general way says which.
    if (error instanceof Error && 'code' in error && error.code === '23505') return undefined;
    throw error;
  }
}

interface AnswerRow {
  readonly place: number;
  readonly state: string;
  readonly seq: string | null;
  readonly at: Date | null;
  readonly part: number | null;
  readonly count: number | null;
}

async function writeAll(sql: Queryable, batches: readonly Batch[], at: Date): Promise<Outcome[]> {
  const segments = batches.flatMap((batch, index) =>
    segmentsOf(batch).map((segment) => ({ ...segment, place: index + 1 })),
  );
  const parts = {
    places: [] as number[],
    offsets: [] as number[],
    counts: [] as number[],
    ids: [] as string[],
  };
  for (const [index, batch] of batches.entries()) {
    const more = partsOf(batch, index + 1);
    parts.places.push(...more.places);
    parts.offsets.push(...more.offsets);
    parts.counts.push(...more.counts);
    parts.ids.push(...more.ids);
  }
  const first = (batch: Batch) => batch.appends[0]?.options;
  const newFence = (batch: Batch) =>
    batch.appends.findLast(({ options }) => options.newFencingToken !== undefined)?.options.newFencingToken ??
    null;
  const rows = await sql<AnswerRow[]>`
    select * from append_to_channels(
      ${at},
      ${batches.map(({ key }) => key.id)}::uuid[],
      ${batches.map(({ appends }) => appends.reduce((sum, { encoded }) => sum + encoded.length, 0))}::int[],
      ${batches.map((batch) => first(batch)?.matchSeqNum ?? null)}::bigint[],
      ${batches.map((batch) => first(batch)?.fencingToken ?? null)}::text[],
      ${batches.map(newFence)}::text[],
      ${segments.map(({ place }) => place)}::int[],
      ${segments.map(({ offset }) => offset)}::int[],
      ${segments.map(({ count }) => count)}::int[],
      ${segments.map(({ bytes }) => bytes)}::int[],
      ${segments.map(({ records }) => records)}::text[],
      ${parts.places}::int[], ${parts.offsets}::int[], ${parts.counts}::int[], ${parts.ids}::uuid[])`;
  return outcomesOf(rows, batches.length, parts.ids, at);
}

function outcomesOf(
  rows: readonly AnswerRow[],
  count: number,
  partIds: readonly string[],
  at: Date,
): Outcome[] {
  const outcomes: Outcome[] = Array.from({ length: count });
  const repeated = new Map<number, Map<string, { start: number; end: number }>>();
  for (const row of rows) {
    if (row.state !== 'part') continue;
    const parts = repeated.get(row.place) ?? new Map<string, { start: number; end: number }>();
    repeated.set(row.place, parts);
    const start = Number(row.seq);
    parts.set(partIds[(row.part ?? 0) - 1] as string, { start, end: start + (row.count ?? 0) });
  }
  for (const row of rows) {
    if (row.state === 'part') continue;
    const tail = Number(row.seq ?? 0);
    const time = (row.at ?? at).getTime();
    outcomes[row.place - 1] =
      row.state === 'repeat'
        ? { state: 'repeat', tail, at: time, repeated: repeated.get(row.place) ?? new Map() }
        : { state: row.state as 'ok' | AppendRefusal, tail, at: time };
  }
  return outcomes;
}

const hasConditions = ({ options }: Pending): boolean =>
  options.matchSeqNum !== undefined ||
  options.fencingToken !== undefined ||
  options.newFencingToken !== undefined;

function segmentsOf({ appends }: Batch): Segment[] {
  const segments: Segment[] = [];
  let texts: string[] = [];
  let bytes = 0;
  let offset = 0;
  const close = (): void => {
    if (texts.length === 0) return;
    segments.push({ offset, count: texts.length, bytes, records: `[${texts.join(',')}]` });
    offset += texts.length;
    texts = [];
    bytes = 0;
  };
  for (const { encoded } of appends) {
    for (const record of encoded) {
      if (bytes + record.bytes > mostSegmentBytes) close();
      texts.push(record.text);
      bytes += record.bytes;
    }
  }
  close();
  return segments;
}

function partsOf({ appends }: Batch, place: number) {
  const parts = {
    places: [] as number[],
    offsets: [] as number[],
    counts: [] as number[],
    ids: [] as string[],
  };
  let offset = 0;
  for (const { part, encoded } of appends) {
    if (part !== undefined) {
      parts.places.push(place);
      parts.offsets.push(offset);
      parts.counts.push(encoded.length);
      parts.ids.push(part);
    }
    offset += encoded.length;
  }
  return parts;
}
