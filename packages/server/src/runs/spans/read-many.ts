import type { EndedSpan } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';
import { runSpan, type ChunkRow, type RunSpan } from './read.ts';

/** The first spans of a run, with the data that distinguishes their attempt from others with the same number. */
export interface SpansOfRun {
  /** In arrival order. */
  readonly chunks: { readonly attempt: number; readonly arrivedAt: Date; readonly spans: RunSpan[] }[];
  /** Whether more exist, or some were dropped. */
  readonly isCut: boolean;
}

/** Spans of several runs: for each run, whole chunks up to about `limit` spans. Runs without spans are omitted. */
export async function readSpansOf(
  sql: Queryable,
  env: number,
  runs: readonly { readonly id: string; readonly limit: number }[],
): Promise<Map<string, SpansOfRun>> {
  const rows = await sql<(ChunkRow & { run_id: string; arrived: Date; isCut: boolean })[]>`
    select i.run_id, s.id, s.attempt, s.trace_id, s.dropped, s.at as arrived, s.furthest >= i.max_spans as "isCut", s.spans
      from unnest(${runs.map((run) => run.id)}::text[], ${runs.map((run) => run.limit)}::int[]) with ordinality as i (run_id, max_spans, ix)
      cross join lateral (
        select z.*, max(z.before) over () as furthest
          from (select x.*, sum(x.count + 1) over (order by x.id) - x.count - 1 as before
                  from (select y.* from run_spans y where y.env = ${env} and y.run_id = i.run_id order by y.id limit i.max_spans + 1) x) z) s
     where s.before < i.max_spans order by i.ix, s.id`;
  const found = new Map<string, { chunks: SpansOfRun['chunks']; isCut: boolean }>();
  for (const row of rows) {
    const run = found.get(row.run_id) ?? { chunks: [], isCut: false };
    found.set(row.run_id, run);
    run.isCut ||= row.isCut || row.dropped > 0;
    const spans = (JSON.parse(row.spans) as EndedSpan[]).map((span) => runSpan(row, span));
    run.chunks.push({ attempt: row.attempt, arrivedAt: row.arrived, spans });
  }
  return found;
}
