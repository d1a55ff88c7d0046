import type { ServerCheck } from './facts.ts';

const maxSkewMs = 5_000;

export const serverClock: ServerCheck = {
  name: 'server-clock',
  looksAt: 'the clocks of this machine and of the server differ by less than 5 seconds',
  severity: 'warning',
  why: 'Expiring credentials, certificates and log times use different clocks.',
  mend: 'Run a time service on both machines: `timedatectl set-ntp true`.',
  async find({ told }) {
    const { diagnosis, askedAt, answeredAt } = await told();
    const at = Date.parse(diagnosis.at);
    // The server may have read its clock at any time in between.
    const skew = at < askedAt ? at - askedAt : at > answeredAt ? at - answeredAt : 0;
    if (Math.abs(skew) <= maxSkewMs) return [];
    const seconds = (Math.abs(skew) / 1_000).toFixed(1);
    return [{ what: `The server is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} this machine.` }];
  },
};
