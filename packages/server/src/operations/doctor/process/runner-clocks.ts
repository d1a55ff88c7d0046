import type { ProcessCheck } from '../process-input.ts';

const maxListed = 10;

export const runnerClocks: ProcessCheck = {
  name: 'runner-clocks',
  condition:
    'the clocks of the runners connected to the server differ from that of PostgreSQL by less than 5 seconds',
  severity: 'warning',
  why: 'Log lines and traces have the time of the runner, and so do dates that tasks compute, for example for waits and delays.',
  fix: 'Run a time service on the machine of the runner: `timedatectl set-ntp true`.',
  async find({ runners, limits: { clockSkewMs } }) {
    return [...runners.all()]
      .filter(({ aheadMs }) => Math.abs(aheadMs) > clockSkewMs)
      .slice(0, maxListed)
      .map(({ id, host, aheadMs }) => ({
        what: `The runner ${id} on ${host} is ${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} PostgreSQL.`,
      }));
  },
};
