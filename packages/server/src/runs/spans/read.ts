import type { EndedSpan, SpanAttributes } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';

/** A stored span. */
export interface RunSpan {
  /** 16 hexadecimal digits. */
  readonly id: string;
  readonly traceId: string;
  /** Undefined for a span directly below its attempt. */
  readonly parentId: string | undefined;
  readonly attempt: number;
  readonly name: string;
  readonly kind: NonNullable<EndedSpan['kind']>;
  /** Microseconds since 1970. Within an attempt, they are from a monotonic clock of the runner's machine. */
  readonly at: number;
  /** Duration in microseconds. */
  readonly took: number;
  readonly status: 'unset' | 'ok' | 'error';
  readonly message: string | undefined;
  readonly attributes: SpanAttributes;
  readonly events: NonNullable<EndedSpan['events']>;
  readonly scope: string | undefined;
  /** How many attributes and events were omitted. */
  readonly omitted: number;
}

export interface SpanPage {
  /** By attempt, in arrival order, which is the order in which they ended. */
  readonly spans: RunSpan[];
  /** How many spans of these chunks were dropped because there were too many. */
  readonly dropped: number;
  /** Where the next page begins; undefined at the end. */
  readonly next: number | undefined;
}

export interface ChunkRow {
  readonly id: string;
  readonly attempt: number;
  readonly trace_id: string;
  readonly dropped: number;
  readonly spans: string;
}

/** Spans of a run: whole chunks up to about `limit` spans. */
export async function readSpans(
  sql: Queryable,
  env: number,
  run: string,
  { after = 0, limit }: { readonly after?: number; readonly limit: number },
): Promise<SpanPage> {
  const rows = await sql<ChunkRow[]>`
    select id, attempt, trace_id, dropped, spans
      from (select s.*, sum(count + 1) over (order by id) - count - 1 as before
              from run_spans s where env = ${env} and run_id = ${run} and id > ${after} order by id limit ${limit + 1}) s
     where before < ${limit} order by id`;
  const spans = rows.flatMap((row) =>
    (JSON.parse(row.spans) as EndedSpan[]).map((span) => runSpan(row, span)),
  );
  const last = rows.at(-1);
  const [more] = last
    ? await sql`select from run_spans where env = ${env} and run_id = ${run} and id > ${last.id} limit 1`
    : [];
  return {
    spans,
    dropped: rows.reduce((total, row) => total + row.dropped, 0),
    next: more && last && Number(last.id),
  };
}

/** A span of a chunk. */
export const runSpan = ({ attempt, trace_id }: ChunkRow, span: EndedSpan): RunSpan => ({
  id: span.id,
  traceId: span.trace ?? trace_id,
  parentId: span.parent,
  attempt,
  name: span.name,
  kind: span.kind ?? 'internal',
  at: span.at,
  took: span.took,
  status: span.status ?? 'unset',
  message: span.message,
  attributes: span.attributes ?? {},
  events: span.events ?? [],
  scope: span.scope,
  omitted: span.omitted ?? 0,
});
