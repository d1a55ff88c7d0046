import type { DedicatedConnection, TextRow } from '../db/dedicated.ts';
import { partsOf, segmentsOf, type Segment } from './segments.ts';
import type { Batch, Outcome } from './batch.ts';

const isOpen = 'c.closed_at is null and (c.expires_at is null or c.expires_at > $1::timestamptz)';
/** The time of the records if it differs from the given one, because times within a channel never decrease. */
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

/** Returns a single row of arrays, because returning a row for each channel would cost as much as the write itself. */
const toMany = (hasParts: boolean): string => `
  with moved as (
    update channels c set next_seq = c.next_seq + i.count, last_at = greatest(c.last_at, $1::timestamptz)
      from unnest($2::uuid[], $3::int[], $4::int[], string_to_array($5, E'\\x1f')${hasParts ? ', $6::int[], $7::int[]' : ''}) with ordinality
             as i (id, count, bytes, records${hasParts ? ', part, last_part' : ''}, position)
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
  select array_agg(m.position), array_agg(m.seq), array_agg(${later}) from moved m`;

export const fastStatements = {
  append_one: toOne(false),
  append_one_part: toOne(true),
  append_many: toMany(false),
  append_many_parts: toMany(true),
};

export type FastWriter = Pick<DedicatedConnection<keyof typeof fastStatements>, 'send'>;

/** A batch that the fast path can write: one segment, without conditions. */
interface FastBatch {
  readonly batch: Batch;
  /** Its index among all batches. */
  readonly index: number;
  readonly segment: Segment;
}

/**
 * Writes the batches without conditions, each to an open channel, with one statement. The outcome of a batch that it did not write is
 * undefined; the conditional path then writes it or returns the reason.
 */
export async function writeFast(
  writer: FastWriter,
  batches: readonly Batch[],
  now: number,
): Promise<readonly (Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = batches.map(() => undefined);
  const fast = batches.flatMap((batch, index): FastBatch[] => {
    const segments = segmentsOf(batch);
    const [segment] = segments;
    const isFast = segment && segments.length === 1 && !hasConditions(batch);
    return isFast ? [{ batch, index, segment }] : [];
  });
  if (fast.length === 0) return outcomes;
  const written = await send(writer, fast, now).catch((error: unknown) => {
    // A part id is repeated. The conditional path determines which one.
    if (error instanceof Error && 'code' in error && error.code === '23505') return [];
    throw error;
  });
  for (const { position, tail, at } of written) {
    const { index } = fast[position] as FastBatch;
    outcomes[index] = { state: 'ok', tail, at };
  }
  return outcomes;
}

/** A time as text, which costs less to encode than a `Date`. */
const timestamp = (ms: number): string => new Date(ms).toISOString();

/** An array of ids or numbers in PostgreSQL's text format; these need no quotes. The driver would escape each of them. */
const arrayText = (values: readonly (string | number)[]): string => `{${values.join(',')}}`;

/** The separator between the records of channels, which are sent as one text. JSON escapes this character. */
const separator = '\u001f';

interface Written {
  /** The position in the sent values, from 0. */
  readonly position: number;
  readonly tail: number;
  readonly at: number;
}

async function send(writer: FastWriter, fast: readonly FastBatch[], now: number): Promise<Written[]> {
  const parts = partsOf(fast.map(({ batch }) => batch));
  const [first] = fast as [FastBatch];
  if (fast.length === 1 && parts.ids.length <= 1) {
    const { segment, batch } = first;
    const values = [timestamp(now), batch.key.id, segment.count, segment.bytes, segment.records];
    const [part] = parts.ids;
    // If there are several appends, a part id does not apply to the whole batch, so the general statement is used.
    if (part === undefined) return oneOf(await writer.send('append_one', values), now);
    if (batch.appends.length === 1)
      return oneOf(await writer.send('append_one_part', [...values, part]), now);
  }
  const values = [
    timestamp(now),
    arrayText(fast.map(({ batch }) => batch.key.id)),
    arrayText(fast.map(({ segment }) => segment.count)),
    arrayText(fast.map(({ segment }) => segment.bytes)),
    fast.map(({ segment }) => segment.records).join(separator),
  ];
  return manyOf(
    parts.ids.length === 0
      ? await writer.send('append_many', values)
      : await writer.send('append_many_parts', [...values, ...partValues(fast.length, parts)]),
    now,
  );
}

/** The range of parts of each channel, then all parts. */
function partValues(
  channels: number,
  { positions, offsets, counts, ids }: ReturnType<typeof partsOf>,
): string[] {
  const first: number[] = [];
  const last: number[] = [];
  let done = 0;
  for (let position = 1; position <= channels; position++) {
    first.push(done + 1);
    while (positions[done] === position) done++;
    last.push(done);
  }
  return [first, last, ids, offsets, counts].map(arrayText);
}

const oneOf = (rows: readonly TextRow[], now: number): Written[] =>
  rows.map(([seq, at]) => ({ position: 0, tail: Number(seq), at: at == null ? now : Number(at) }));

function manyOf([row]: readonly TextRow[], now: number): Written[] {
  const [positions, tails, times] = (row ?? []).map((list) => list?.slice(1, -1).split(',') ?? []);
  return (positions ?? []).map((position, index) => {
    const at = times?.[index];
    return {
      position: Number(position) - 1,
      tail: Number(tails?.[index]),
      at: at === undefined || at === 'NULL' ? now : Number(at),
    };
  });
}

/** Whether any append of the batch has a condition or a new fencing token. */
const hasConditions = ({ appends }: Batch): boolean =>
  appends.some(
    ({ options: { matchSeqNum, fencingToken, newFencingToken } }) =>
      matchSeqNum !== undefined || fencingToken !== undefined || newFencingToken !== undefined,
  );
