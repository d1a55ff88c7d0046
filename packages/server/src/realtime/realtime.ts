import type { Operations } from '@millrace/contract';
import type { AccessWatcher } from '../auth/watch-access.ts';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Wakes } from '../db/wake.ts';
import type { Log } from '../logger.ts';
import type { HandlersOf, Request } from '../request.ts';
import type { EventStreams } from '../protocols/sse/event-streams.ts';
import type { RunChanges } from '../runs/changes.ts';
import { createInterest } from './changes.ts';
import { eventHandlers } from './event-handlers.ts';
import { followRuns, type Followed } from './follow.ts';
import { LongPolls, type PollLimits } from './long-polls.ts';
import { watchSets, type Sets } from './sets.ts';
import { shapeHandlers } from './shape-handlers.ts';

export interface Realtime {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly streams: EventStreams;
  readonly followed: Followed;
  readonly sets: Sets;
  readonly polls: LongPolls;
  /** Where the caller can read what a run keeps apart. */
  readonly addressOf: (
    request: Pick<Request<never>, 'environment' | 'baseUrl' | 'principal'>,
  ) => (packet: string) => string;
}

export interface RealtimeOptions {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly wakes: Wakes;
  readonly log: Log;
  readonly streams: EventStreams;
  readonly access: Pick<AccessWatcher, 'watch'>;
  readonly addressOf: Realtime['addressOf'];
  /** How long a request waits for news before it is answered without. Default 20,000. */
  readonly holdMs?: number;
  /** How often what is watched is looked at although nobody said anything. Default 2,000. */
  readonly pollMs?: number;
  readonly limits?: Partial<PollLimits>;
}

type Named = Pick<
  Operations,
  'shapeRun' | 'shapeRuns' | 'shapeBatch' | 'followRun' | 'followRuns' | 'followBatch'
>;

export interface RunningRealtime {
  /** Tell it what the verbs of this process do. */
  readonly changes: RunChanges;
  readonly handlers: HandlersOf<Named>;
  readonly followed: Followed;
  readonly sets: Sets;
  stop(): void;
}

const defaultLimits: PollLimits = { process: 20_000, environment: 15_000 };

/** Live subscriptions to runs. */
export function startRealtime(options: RealtimeOptions): RunningRealtime {
  const { sql, clock, wakes, log, streams, access, addressOf, holdMs = 20_000, pollMs = 2_000 } = options;
  const interest = createInterest(wakes);
  const followed = followRuns(sql, { pollMs, watch: (env) => interest.watch(env) });
  const sets = watchSets({ sql, clock, followed }, interest, { pollMs });
  const polls = new LongPolls(holdMs, { ...defaultLimits, ...options.limits }, access);
  const realtime: Realtime = { sql, clock, log, streams, followed, sets, polls, addressOf };
  return {
    changes: interest.changes,
    handlers: { ...shapeHandlers(realtime), ...eventHandlers(realtime) },
    followed,
    sets,
    stop() {
      polls.stop();
      sets.stop();
      followed.stop();
      interest.stop();
    },
  };
}
