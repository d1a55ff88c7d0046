import type { OperationsOf } from '@millrace/contract';
import type { AccessWatcher } from '../auth/watch-access.ts';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Wakes } from '../db/wake.ts';
import type { Log } from '../logger.ts';
import type { HandlersOf } from '../request.ts';
import type { EventStreams } from '../channels/sse/event-streams.ts';
import type { RunChanges } from '../runs/engine/changes.ts';
import { createInterest } from './changes.ts';
import type { RealtimeContext } from './context.ts';
import { eventHandlers } from './event-handlers.ts';
import { followRuns, type Followed } from './follow.ts';
import { lineHandlers } from './line-handlers.ts';
import { createLineNews, type LineNews } from './line-news.ts';
import { LongPolls, type PollLimits } from './long-polls.ts';
import { watchSets, type Sets } from './sets.ts';
import { shapeHandlers } from './shape-handlers.ts';

export interface RealtimeOptions {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly wakes: Wakes;
  readonly log: Log;
  readonly streams: EventStreams;
  readonly access: Pick<AccessWatcher, 'watch'>;
  readonly addressOf: RealtimeContext['addressOf'];
  /** How long a long poll waits for changes before it returns without any. Default 20,000. */
  readonly holdMs?: number;
  /** How often watched runs are read although no change was announced. Default 2,000. */
  readonly pollMs?: number;
  readonly limits?: Partial<PollLimits>;
}

export interface RunningRealtime {
  /** Announces the changes made by operations of this process. */
  readonly changes: RunChanges;
  readonly handlers: HandlersOf<OperationsOf<'realtime' | 'realtimeFollow' | 'logsFollow'>>;
  /** Announces the log lines stored by this process. */
  readonly lineNews: LineNews;
  readonly followed: Followed;
  readonly sets: Sets;
  stop(): void;
}

const defaultLimits: PollLimits = { process: 20_000, environment: 15_000 };

/** Starts live subscriptions to runs. */
export function startRealtime(options: RealtimeOptions): RunningRealtime {
  const { sql, clock, wakes, log, streams, access, addressOf, holdMs = 20_000, pollMs = 2_000 } = options;
  const interest = createInterest(wakes);
  const followed = followRuns(sql, { pollMs, watch: (env) => interest.watch(env) });
  const sets = watchSets({ sql, clock, followed }, interest, { pollMs });
  const polls = new LongPolls(holdMs, { ...defaultLimits, ...options.limits }, access);
  const realtime: RealtimeContext = { sql, clock, log, streams, followed, sets, polls, addressOf };
  const lineNews = createLineNews(wakes);
  return {
    lineNews,
    changes: interest.changes,
    handlers: { ...shapeHandlers(realtime), ...eventHandlers(realtime), ...lineHandlers(realtime, lineNews) },
    followed,
    sets,
    stop() {
      polls.stop();
      sets.stop();
      followed.stop();
      interest.stop();
      lineNews.stop();
    },
  };
}
