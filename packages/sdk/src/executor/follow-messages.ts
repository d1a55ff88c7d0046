import { currentClient } from '../client/current-client.ts';
import { whyEnded } from '../sessions/ended.ts';
import { followRecords, type ChannelRecord, type FollowOptions } from '../sessions/follow.ts';

export type { ChannelRecord, FollowOptions } from '../sessions/follow.ts';

/** The records of the channel at an API path, each once and in order, on behalf of the calling attempt. */
export const followPath = (path: string, options: FollowOptions): AsyncGenerator<ChannelRecord> =>
  followRecords(currentClient(), path, options);

/** The reason why a session accepts no more messages; undefined while it does. */
export const endOfSession = (session: string): Promise<Error | undefined> =>
  whyEnded(currentClient(), session);
