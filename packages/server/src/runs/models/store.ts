import type { EndedSpan } from '@millrace/contract/runner';
import { column } from '../../db/columns.ts';
import type { Queryable } from '../../db/connect.ts';
import { modelCallOf, type ModelCall } from './call-of-span.ts';
import { costOf, readPrices } from './prices.ts';

/** Spans of one attempt. */
export interface AttemptSpans {
  readonly env: number;
  readonly run: string;
  readonly attempt: number;
  readonly spans: readonly EndedSpan[];
}

/** A run has no more calls: the number of its spans is limited too. */
const maxCalls = 10_000;

interface Row extends ModelCall {
  readonly env: number;
  readonly run: string;
  readonly attempt: number;
  readonly cost: bigint | null;
}

/**
 * Adds the calls of models in some spans to their runs and to the roll-ups of their tasks, within the transaction that stores the spans. A
 * span that arrives again adds nothing. Without calls, nothing is read or written.
 */
export async function addModelCalls(
  sql: Queryable,
  chunks: readonly AttemptSpans[],
  at: Date,
): Promise<void> {
  const calls = chunks.flatMap(({ env, run, attempt, spans }) =>
    spans.flatMap((span) => {
      const call = modelCallOf(span);
      return call ? [{ ...call, env, run, attempt }] : [];
    }),
  );
  if (calls.length === 0) return;
  const priceIn = await readPrices(sql, [...new Set(calls.map(({ env }) => env))]);
  const rows = calls.map((call): Row => {
    const price = priceIn(call.env)(call.model, call.requested);
    return { ...call, cost: price ? costOf(price, call) : null };
  });
  await insertCalls(sql, rows, at);
}

/** The roll-ups are locked in the order of their key, so that servers do not wait for each other. */
const insertCalls = (sql: Queryable, rows: readonly Row[], at: Date) => sql`
  with calls as (
    select * from unnest(
      ${column(rows, (row) => row.env)}::int[], ${column(rows, (row) => row.run)}::text[],
      ${column(rows, (row) => row.span)}::text[], ${column(rows, (row) => row.attempt)}::int[],
      ${column(rows, (row) => row.provider)}::text[], ${column(rows, (row) => row.model)}::text[],
      ${column(rows, (row) => row.input)}::int[], ${column(rows, (row) => row.cached)}::int[],
      ${column(rows, (row) => row.cacheWrite)}::int[], ${column(rows, (row) => row.output)}::int[],
      ${column(rows, (row) => row.cost?.toString() ?? null)}::numeric[]
    ) as i (env, run_id, span_id, attempt, provider, model, input, cached, cache_write, output, cost)
  ), callers as materialized (
    select d.env, d.run_id, r.task
      from (select distinct env, run_id from calls) d
      cross join lateral (select x.task from runs x where x.env = d.env and x.id = d.run_id limit 1) r
     where (select count(*) from (
             select from model_calls x where x.env = d.env and x.run_id = d.run_id limit ${maxCalls}) x) < ${maxCalls}
  ), added as (
    insert into model_calls as c (env, run_id, span_id, attempt, at, provider, model, input_tokens, cached_tokens, cache_write_tokens,
                                  output_tokens, cost)
    select i.env, i.run_id, i.span_id, i.attempt, ${at}, i.provider, i.model, i.input, i.cached, i.cache_write, i.output, i.cost
      from calls i join callers using (env, run_id)
     order by i.env, i.run_id, i.span_id
    on conflict do nothing
    returning c.*
  )
  insert into model_days as d (env, at, task, provider, model, calls, unpriced_calls, input_tokens, cached_tokens, cache_write_tokens,
                               output_tokens, cost)
  select a.env, date_trunc('day', ${at}::timestamptz, 'UTC'), r.task, a.provider, a.model, count(*), count(*) filter (where a.cost is null),
         sum(a.input_tokens), sum(a.cached_tokens), sum(a.cache_write_tokens), sum(a.output_tokens), coalesce(sum(a.cost), 0)
    from added a join callers r using (env, run_id)
   group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (env, at, task, provider, model) do update
     set calls = d.calls + excluded.calls, unpriced_calls = d.unpriced_calls + excluded.unpriced_calls,
         input_tokens = d.input_tokens + excluded.input_tokens, cached_tokens = d.cached_tokens + excluded.cached_tokens,
         cache_write_tokens = d.cache_write_tokens + excluded.cache_write_tokens,
         output_tokens = d.output_tokens + excluded.output_tokens, cost = d.cost + excluded.cost`;
