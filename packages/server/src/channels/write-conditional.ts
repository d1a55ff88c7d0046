import { texts } from '../db/columns.ts';
import type { Queryable } from '../db/connect.ts';
import type { Batch, Outcome } from './batch.ts';
import type { AppendRefusal } from './refused.ts';
import { partsOf, segmentsOf } from './segments.ts';

interface AnswerRow {
  readonly channel_index: number;
  readonly state: string;
  readonly seq: string | null;
  readonly at: Date | null;
  readonly part: number | null;
  readonly count: number | null;
}

/**
 * Writes batches with conditions, new tokens, repeated parts or several segments. The outcome contains the reason if something was not written.
 */
export async function writeConditionally(
  sql: Queryable,
  batches: readonly Batch[],
  at: Date,
): Promise<Outcome[]> {
  const segments = batches.flatMap((batch, index) =>
    segmentsOf(batch).map((segment) => ({ ...segment, position: index + 1 })),
  );
  const parts = partsOf(batches);
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
      ${segments.map(({ position }) => position)}::int[],
      ${segments.map(({ offset }) => offset)}::int[],
      ${segments.map(({ count }) => count)}::int[],
      ${segments.map(({ bytes }) => bytes)}::int[],
      ${texts(sql, segments, ({ records }) => records)},
      ${parts.positions}::int[], ${parts.offsets}::int[], ${parts.counts}::int[], ${parts.ids}::uuid[])`;
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
    const parts = repeated.get(row.channel_index) ?? new Map<string, { start: number; end: number }>();
    repeated.set(row.channel_index, parts);
    const start = Number(row.seq);
    parts.set(partIds[(row.part ?? 0) - 1] as string, { start, end: start + (row.count ?? 0) });
  }
  for (const row of rows) {
    if (row.state === 'part') continue;
    const tail = Number(row.seq ?? 0);
    const time = (row.at ?? at).getTime();
    outcomes[row.channel_index - 1] =
      row.state === 'repeat'
        ? { state: 'repeat', tail, at: time, repeated: repeated.get(row.channel_index) ?? new Map() }
        : { state: row.state as 'ok' | AppendRefusal, tail, at: time };
  }
  return outcomes;
}
