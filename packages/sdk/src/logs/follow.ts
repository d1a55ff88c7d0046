import type { FoundLine } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pathOf } from '../client/path.ts';
import { codecOf } from '../sealing/codec.ts';
import { openLine } from '../sealing/lines.ts';
import { followRuns } from '../runs/follow.ts';
import { runId, type RunReference } from '../runs/run.ts';
import { dated, filterQuery, type FoundLog, type LogFilter } from './filter.ts';

export interface FollowLogsOptions extends LogFilter {
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Called when lines were skipped, because they arrived faster than they were read. */
  onGap?: () => void;
}

export type FollowRunLogsOptions = Omit<FollowLogsOptions, 'task' | 'onGap'>;

const events: ReadonlySet<string> = new Set(['line', 'gap']);

/**
 * The lines that runs write from now on, in order of arrival, until the signal is aborted or the loop is left. A broken connection is reopened
 * without loss. A reader that falls far behind continues with the newest lines.
 *
 * @example
 * for await (const line of logs.follow({ task: 'mail', level: 'error' })) alert(line.runId, line.message);
 */
export async function* follow({ signal, onGap, ...filter }: FollowLogsOptions = {}): AsyncGenerator<
  FoundLog,
  void,
  undefined
> {
  const path = pathOf('followLogs', {}, filterQuery(filter));
  const client = currentClient();
  for await (const event of followRuns(client, path, signal, events)) {
    if (isLine(event)) yield await openLine(codecOf(client), dated(event), event.runId);
    else onGap?.();
  }
}

/**
 * The lines of a run, oldest first: existing lines, then new ones until the run has ended.
 *
 * @example
 * for await (const line of runs.followLogs(handle)) console.log(line.level, line.message);
 */
export async function* followLogs(
  run: RunReference,
  { signal, ...filter }: FollowRunLogsOptions = {},
): AsyncGenerator<FoundLog, void, undefined> {
  const path = pathOf('followRunLogs', { runId: runId(run) }, filterQuery(filter));
  const client = currentClient();
  for await (const event of followRuns(client, path, signal, events)) {
    if (isLine(event)) yield await openLine(codecOf(client), dated(event), event.runId);
  }
}

const isLine = (event: unknown): event is FoundLine =>
  typeof event === 'object' && event !== null && 'message' in event;
