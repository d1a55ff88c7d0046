import type { Operations, Reply } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { runId, type RunReference } from './run.ts';

type Wire = Reply<Operations['retrieveRunTimeline']>;
type WithDates<T> = T extends { startedAt: string }
  ? Omit<T, 'startedAt' | 'endedAt'> & { readonly startedAt: Date; readonly endedAt?: Date | undefined }
  : never;

/** Something that happened in a run or below it; `kind` says what. `parentId` is the `id` of the entry below which it is. */
export type TimelineEntry = WithDates<Wire['entries'][number]>;

/** What happened in a run and in the runs below it. */
export interface RunTimeline {
  /** The server's clock when it answered. What has no end went on then. */
  readonly at: Date;
  /** Each after the one below which it is, and otherwise in the order in which they started. */
  readonly entries: readonly TimelineEntry[];
  /** The run has more children: give this as `after`. */
  readonly next: string | undefined;
}

/** How much of a timeline. */
export interface TimelineOptions {
  /** Levels of child runs: 0 to 5. Default 2. */
  depth?: number;
  /** Log lines of the run, the last ones: 0 to 500. Default 50. Of a child run there are at most 5. */
  logs?: number;
  /** Child runs of all levels together: 1 to 500. Default 100. */
  limit?: number;
  /** Children after this one, as `next` gave it. What the run did itself is then left out. */
  after?: string;
}

/**
 * What happened in a run and in the runs below it, on the server's clock: what each waited for, its attempts, waits, batches, spans and lines.
 * A child run of which not all children are there says `hasMoreChildren`: ask for its own timeline. Throws a NotFoundError for an unknown run.
 *
 * @example
 * const { entries } = await runs.timeline('run_…', { depth: 1 });
 * for (const entry of entries) console.log(entry.kind, entry.startedAt, entry.endedAt);
 */
export async function timeline(
  run: RunReference,
  { depth, logs, limit, after }: TimelineOptions = {},
): Promise<RunTimeline> {
  const { at, entries, pagination } = await currentClient().call('retrieveRunTimeline', {
    params: { runId: runId(run) },
    query: { depth, logs, 'page[size]': limit, 'page[after]': after },
  });
  return { at: new Date(at), entries: entries.map(dated), next: pagination.next };
}

function dated({ startedAt, endedAt, ...entry }: Wire['entries'][number]): TimelineEntry {
  return {
    ...entry,
    startedAt: new Date(startedAt),
    ...(endedAt !== undefined && { endedAt: new Date(endedAt) }),
  };
}
