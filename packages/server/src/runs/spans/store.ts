import { spanLimits, type SpanChunk } from '@millrace/contract/runner';
import type { Redactor } from '../../envvars/redact/redactor.ts';
import type { Queryable } from '../../db/connect.ts';
import { storableText } from '../storable.ts';
import { fitSpans, isTraceId } from './fit.ts';

/** A chunk of spans as it is stored. */
export interface NewSpans {
  readonly env: number;
  readonly run: string;
  readonly attempt: number;
  readonly trace: string;
  readonly count: number;
  readonly dropped: number;
  /** A JSON list without secrets. */
  readonly spans: string;
}

/** What is stored of chunks that a runner sent: within the limits, and without secrets. */
export function cleanSpans(redactor: Redactor, env: number, chunks: readonly SpanChunk[]): NewSpans[] {
  return chunks.flatMap((chunk) => {
    if (typeof chunk?.run !== 'string' || !Number.isInteger(chunk.attempt)) return [];
    const fitting = fitSpans(chunk);
    const clean = redactor.json(storableText(JSON.stringify(fitting)));
    // A secret with the syntax of JSON may span several values. Then nothing is left of the list.
    const isWhole = clean.startsWith('[');
    const dropped = Number.isInteger(chunk.dropped)
      ? Math.max(0, Math.min(1_000_000, chunk.dropped ?? 0))
      : 0;
    if (fitting.length === 0 && dropped === 0) return [];
    return [
      {
        env,
        run: storableText(chunk.run),
        attempt: chunk.attempt,
        trace: isTraceId(chunk.trace) ? chunk.trace : '',
        count: isWhole ? fitting.length : 0,
        dropped: dropped + (isWhole ? 0 : fitting.length),
        spans: isWhole ? clean : '[]',
      },
    ];
  });
}

/** Stores chunks of spans. Of a run that has all that may be stored, nothing more is. */
export async function insertSpans(sql: Queryable, chunks: readonly NewSpans[], at: Date): Promise<void> {
  await sql`
    insert into run_spans (env, run_id, attempt, at, trace_id, count, dropped, size, spans)
    select i.env, i.run_id, i.attempt, ${at}::timestamptz, i.trace_id, i.count, i.dropped, octet_length(i.spans), i.spans
      from unnest(
        ${chunks.map(({ env }) => env)}::int[], ${chunks.map(({ run }) => run)}::text[],
        ${chunks.map(({ attempt }) => attempt)}::int[], ${chunks.map(({ trace }) => trace)}::text[],
        ${chunks.map(({ count }) => count)}::int[], ${chunks.map(({ dropped }) => dropped)}::int[],
        ${chunks.map(({ spans }) => spans)}::text[]) as i (env, run_id, attempt, trace_id, count, dropped, spans)
      cross join lateral (
        select coalesce(sum(s.count), 0) as count, coalesce(sum(s.size), 0) as size
          from run_spans s where s.env = i.env and s.run_id = i.run_id) stored
     where stored.count < ${spanLimits.perRun}::int and stored.size < ${spanLimits.runBytes}::int`;
}
