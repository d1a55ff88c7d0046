import type { RunningServer } from '@millrace/server';

const minute = 60_000;
const day = 24 * 60 * minute;

/** When the shop was set up, in milliseconds before now. */
export const agoOf = {
  opening: 9 * day,
  secondRelease: 3 * day,
  alerting: 2 * day,
  currentRelease: 40 * minute,
  now: 0,
} as const;

/**
 * Moves the clock of a server to a time of the shop's past: what is done through the API then has its dates. Only while no runner is
 * connected, because runners have clocks of their own.
 */
export function travel(server: Pick<RunningServer, 'shiftTime'>): (to: keyof typeof agoOf) => void {
  let ago = 0;
  return (to) => {
    server.shiftTime(ago - agoOf[to]);
    ago = agoOf[to];
  };
}
