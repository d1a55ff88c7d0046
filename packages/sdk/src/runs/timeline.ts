import type { Operations, Reply } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { runId, type RunReference } from './run.ts';

type Wire = Reply<Operations['retrieveRunTimeline']>;
type WithDates<T> = T extends { startedAt: string }
  ? Omit<T, 'startedAt' | 'endedAt'> & { readonly startedAt: Date; readonly endedAt?: Date | undefined }
  : never;

/** An event in a run or in its descendants, of the given `kind`. `parentId` is the `id` of the parent entry. */
export type TimelineEntry = WithDates<Wire['entries'][number]>;

/** The events of a run and its descendants. */
export interface RunTimeline {
  /** The server's time when it replied. Entries without an end were in progress then. */
  readonly at: Date;
  /** Each entry follows its parent; siblings are in the order in which they started. */
  readonly entries: readonly TimelineEntry[];
  /** Set if the run has more children: pass it as `after`. */
  readonly next: string | undefined;
}

/** Limits and paging for a timeline. */
export interface TimelineOptions {
  /** Levels of child runs: 0 to 5. Default 2. */
  depth?: number;
  /** Number of the run's latest log lines: 0 to 500. Default 50. A child run has at most 5. */
  logs?: number;
  /** Total number of child runs on all levels: 1 to 500. Default 100. */
  limit?: number;
  /** Children after this one, the `next` of an earlier page. The run's own entries are then left out. */
  after?: string;
}

/**
 * The events of a run and its descendants, on the server's clock: waiting times, attempts, waits, batches, spans and log lines. A child run
 * with more children than returned has `hasMoreChildren`; request its own timeline. Throws a NotFoundError for an unknown run.
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
