import { int4, int4s, text, texts, timestamp, uuid, uuids, type Parameter } from '../db/binary.ts';
import type { Direct, TextRow } from '../db/direct.ts';
import { partsOf, segmentsOf, type Segment } from './segments.ts';
import type { Batch, Outcome } from './write.ts';

const isOpen = 'c.closed_at is null and (c.expires_at is null or c.expires_at > $1::timestamptz)';
/** The time of the records where it is not the one that was asked for: a channel's never goes back. */
const later = 'case when m.at > $1 then (extract(epoch from m.at) * 1000)::bigint end';

const toOne = (hasPart: boolean): string => `
  with moved as (
    update channels c set next_seq = c.next_seq + $3::int, last_at = greatest(c.last_at, $1::timestamptz)
     where c.id = $2::uuid and ${isOpen}
    returning c.next_seq - $3::int as seq, c.last_at as at
  ), ${hasPart ? 'noted as (insert into channel_parts (channel, part, seq, count) select $2, $6::uuid, m.seq, $3 from moved m),' : ''}
  written as (
    insert into channel_segments (channel, seq, count, bytes, at, records)
    select $2, m.seq, $3, $4::int, m.at, $5::text from moved m
  )
  select m.seq, ${later} from moved m`;

/** One row for all: a row for each channel costs as much as writing it does. */
const toMany = (hasParts: boolean): string => `
  with moved as (
    update channels c set next_seq = c.next_seq + i.count, last_at = greatest(c.last_at, $1::timestamptz)
      from unnest($2::uuid[], $3::int[], $4::int[], $5::text[]${hasParts ? ', $6::int[], $7::int[]' : ''}) with ordinality
             as i (id, count, bytes, records${hasParts ? ', part, last_part' : ''}, place)
     where c.id = i.id and ${isOpen}
    returning i.*, c.next_seq - i.count as seq, c.last_at as at
  ), ${
    hasParts
      ? `noted as (
    insert into channel_parts (channel, part, seq, count)
    select m.id, q.part, m.seq + q.distance, q.count
      from moved m
     cross join lateral unnest(($8::uuid[])[m.part:m.last_part], ($9::int[])[m.part:m.last_part], ($10::int[])[m.part:m.last_part])
                        as q (part, distance, count)
  ),`
      : ''
  }
  written as (
    insert into channel_segments (channel, seq, count, bytes, at, records)
    select m.id, m.seq, m.count, m.bytes, m.at, m.records from moved m
  )
  select array_agg(m.place), array_agg(m.seq), array_agg(${later}) from moved m`;

export const plainStatements = {
  append_one: toOne(false),
  append_one_part: toOne(true),
  append_many: toMany(false),
  append_many_parts: toMany(true),
};

export type PlainWriter = Pick<Direct<keyof typeof plainStatements>, 'send'>;

interface Plain {
  readonly batch: Batch;
  readonly place: number;
  readonly segment: Segment;
}

/** The everyday case. What is not as it hopes is left out of the answer, and of it nothing was written. */
export async function writePlainly(
  writer: PlainWriter,
  batches: readonly Batch[],
  now: number,
): Promise<readonly (Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = batches.map(() => undefined);
  const plain = batches.flatMap((batch, place): Plain[] => {
    const segments = segmentsOf(batch);
    const [segment] = segments;
    const isPlain = segment && segments.length === 1 && !hasConditions(batch);
    return isPlain ? [{ batch, place, segment }] : [];
  });
  if (plain.length === 0) return outcomes;
  const written = await send(writer, plain, now).catch((error: unknown) => {
    // A part that is known already; the general way says which.
    if (error instanceof Error && 'code' in error && error.code === '23505') return [];
    throw error;
  });
  for (const { index, tail, at } of written) {
    const { place } = plain[index] as Plain;
    outcomes[place] = { state: 'ok', tail, at };
  }
  return outcomes;
}

interface Written {
  /** In what was sent. */
  readonly index: number;
  readonly tail: number;
  readonly at: number;
}

async function send(writer: PlainWriter, plain: readonly Plain[], now: number): Promise<Written[]> {
  const parts = partsOf(plain.map(({ batch }) => batch));
  const [first] = plain as [Plain];
  if (plain.length === 1 && parts.ids.length <= 1) {
    const { segment, batch } = first;
    const values = [
      timestamp(now),
      uuid(batch.key.id),
      int4(segment.count),
      int4(segment.bytes),
      text(segment.records),
    ];
    const [part] = parts.ids;
    // Of several appends of which one has a part id, that one need not be all.
    if (part === undefined) return oneOf(await writer.send('append_one', values), now);
    if (batch.appends.length === 1)
      return oneOf(await writer.send('append_one_part', [...values, uuid(part)]), now);
  }
  const values = [
    timestamp(now),
    uuids(plain.map(({ batch }) => batch.key.id)),
    int4s(plain.map(({ segment }) => segment.count)),
    int4s(plain.map(({ segment }) => segment.bytes)),
    texts(plain.map(({ segment }) => segment.records)),
  ];
  return manyOf(
    parts.ids.length === 0
      ? await writer.send('append_many', values)
      : await writer.send('append_many_parts', [...values, ...partValues(plain.length, parts)]),
    now,
  );
}

/** Which parts are each channel's, then all of them. */
function partValues(
  channels: number,
  { places, offsets, counts, ids }: ReturnType<typeof partsOf>,
): Parameter[] {
  const first: number[] = [];
  const last: number[] = [];
  let done = 0;
  for (let place = 1; place <= channels; place++) {
    first.push(done + 1);
    while (places[done] === place) done++;
    last.push(done);
  }
  return [int4s(first), int4s(last), uuids(ids), int4s(offsets), int4s(counts)];
}

const oneOf = (rows: readonly TextRow[], now: number): Written[] =>
  rows.map(([seq, at]) => ({ index: 0, tail: Number(seq), at: at == null ? now : Number(at) }));

function manyOf([row]: readonly TextRow[], now: number): Written[] {
  const [places, tails, times] = (row ?? []).map((list) => list?.slice(1, -1).split(',') ?? []);
  return (places ?? []).map((place, index) => {
    const at = times?.[index];
    return {
      index: Number(place) - 1,
      tail: Number(tails?.[index]),
      at: at === undefined || at === 'NULL' ? now : Number(at),
    };
  });
}

/** They are about a channel's state before the write, so that they are the first append's; the new token may be anybody's. */
const hasConditions = ({ appends }: Batch): boolean =>
  appends.some(
    ({ options: { matchSeqNum, fencingToken, newFencingToken } }) =>
      matchSeqNum !== undefined || fencingToken !== undefined || newFencingToken !== undefined,
  );
