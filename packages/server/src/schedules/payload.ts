import * as superjson from 'superjson';
import { nextRuns } from '@millrace/contract/cron';
import type { ScheduleType } from '@millrace/contract';
import type { Pattern } from './pattern.ts';

const upcomingCount = 5;

export interface PayloadInput {
  readonly pattern: Pattern;
  readonly type: ScheduleType;
  readonly externalId: string | null;
  /** Nominal time of the tick. */
  readonly timestamp: number;
  /** Nominal time of the last tick that created a run before this one. */
  readonly lastTimestamp: number | undefined;
}

/** The payload of a scheduled run, as superjson, so that its times arrive as dates. */
export function schedulePayload({
  pattern,
  type,
  externalId,
  timestamp,
  lastTimestamp,
}: PayloadInput): string {
  const at = new Date(timestamp);
  return superjson.stringify({
    scheduleId: pattern.id,
    type,
    timestamp: at,
    ...(lastTimestamp !== undefined && { lastTimestamp: new Date(lastTimestamp) }),
    timezone: pattern.timezone,
    ...(externalId !== null && { externalId }),
    upcoming: nextRuns(pattern.cron, pattern.timezone, at, upcomingCount),
  });
}
