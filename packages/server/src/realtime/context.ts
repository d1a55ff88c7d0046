import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Log } from '../logger.ts';
import type { EventStreams } from '../channels/sse/event-streams.ts';
import type { Request } from '../request.ts';
import type { Followed } from './follow.ts';
import type { LongPolls } from './long-polls.ts';
import type { Sets } from './sets.ts';

/** The dependencies of subscription handlers. */
export interface RealtimeContext {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly streams: EventStreams;
  readonly followed: Followed;
  readonly sets: Sets;
  readonly polls: LongPolls;
  /** The URL from which the caller can read a packet. */
  readonly addressOf: (
    request: Pick<Request<never>, 'environment' | 'baseUrl' | 'principal'>,
  ) => (packet: string) => string;
}
