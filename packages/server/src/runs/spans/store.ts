import { spanLimits, type EndedSpan, type SpanChunk } from '@millrace/contract/runner';
import type { Redactor } from '../../envvars/redact/redactor.ts';
import type { Queryable } from '../../db/connect.ts';
import { storableText } from '../values/storable.ts';
import { fitSpans, isTraceId } from './fit.ts';

/** A chunk of spans in its stored form, without secrets. */
export interface NewSpans {
  readonly env: number;
  readonly run: string;
  readonly attempt: number;
  readonly trace: string;
  readonly count: number;
  readonly dropped: number;
  readonly spans: readonly EndedSpan[];
  /** The spans as JSON. */
  readonly text: string;
  readonly sampled: boolean;
}

/** The stored form of chunks from a runner: within the limits, and without secrets. */
export function cleanSpans(redactor: Redactor, env: number, chunks: readonly SpanChunk[]): NewSpans[] {
  return chunks.flatMap((chunk) => {
    if (typeof chunk?.run !== 'string' || !Number.isInteger(chunk.attempt)) return [];
    const fitting = fitSpans(chunk);
    const text = JSON.stringify(fitting);
    const clean = redactor.json(text);
    // A secret that contains JSON syntax may span several values, in which case the whole list is omitted.
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
        spans: isWhole ? (clean === text ? fitting : (JSON.parse(clean) as EndedSpan[])) : [],
        text: isWhole ? clean : '[]',
        sampled: chunk.sampled !== false,
      },
    ];
  });
}

/** Stores chunks of spans, within a transaction. Once a run has the maximum number of spans, no more are stored. */
export async function insertSpans(sql: Queryable, chunks: readonly NewSpans[], at: Date): Promise<void> {
  // Without statistics, the planner might read the whole table for each run.
  await sql`
    select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
           set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`;
  await sql`
    insert into run_spans (env, run_id, attempt, at, trace_id, count, dropped, size, spans)
    select i.env, i.run_id, i.attempt, ${at}::timestamptz, i.trace_id, i.count, i.dropped, octet_length(i.spans), i.spans
      from unnest(
        ${chunks.map(({ env }) => env)}::int[], ${chunks.map(({ run }) => run)}::text[],
        ${chunks.map(({ attempt }) => attempt)}::int[], ${chunks.map(({ trace }) => trace)}::text[],
        ${chunks.map(({ count }) => count)}::int[], ${chunks.map(({ dropped }) => dropped)}::int[],
        ${chunks.map(({ text }) => text)}::text[]) as i (env, run_id, attempt, trace_id, count, dropped, spans)
      cross join lateral (
        select coalesce(sum(s.count), 0) as count, coalesce(sum(s.size), 0) as size
          from run_spans s where s.env = i.env and s.run_id = i.run_id) stored
     where stored.count < ${spanLimits.perRun}::int and stored.size < ${spanLimits.runBytes}::int`;
}
