import type { RunSpan as WireSpan } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { runId, type RunReference } from './run.ts';

/** A span of a run's code, from `trace` or from a library that uses OpenTelemetry. Durations are in microseconds. */
export type RunSpan = Omit<WireSpan, 'startedAt'> & { readonly startedAt: Date };

/**
 * The spans of a run so far, in the order in which they ended. Await the result for the first page, or iterate over it for all.
 *
 * @example
 * for await (const span of runs.spans(handle)) console.log(span.name, span.durationUs / 1_000, 'ms');
 */
export function spans(run: RunReference, { limit }: { limit?: number } = {}): PageList<RunSpan> {
  const client = currentClient();
  const params = { runId: runId(run) };
  return pages(async ({ after }) => {
    const page = await client.call('listRunSpans', { params, query: { after, limit } });
    return {
      data: page.spans.map((span) => ({ ...span, startedAt: new Date(span.startedAt) })),
      pagination: { next: page.next?.toString() },
    };
  }, {});
}
