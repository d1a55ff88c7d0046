import type { RunningServer } from '@millrace/server';

const minute = 60_000;
const day = 24 * 60 * minute;

/** When the events in the shop's history happened, in milliseconds before now. */
export const agoOf = {
  opening: 9 * day,
  secondRelease: 3 * day,
  alerting: 2 * day,
  currentRelease: 40 * minute,
  now: 0,
} as const;

/**
 * Moves the clock of a server to a time in the shop's past, so that API calls are recorded with that time. Only while no runner is connected,
 * because runners have their own clocks.
 */
export function travel(server: Pick<RunningServer, 'shiftTime'>): (to: keyof typeof agoOf) => void {
  let ago = 0;
  return (to) => {
    server.shiftTime(ago - agoOf[to]);
    ago = agoOf[to];
  };
}
