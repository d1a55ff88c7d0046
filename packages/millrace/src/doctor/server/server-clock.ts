import type { ServerCheck } from './input.ts';

const maxSkewMs = 5_000;

export const serverClock: ServerCheck = {
  name: 'server-clock',
  condition: 'the clocks of this machine and of the server differ by less than 5 seconds',
  severity: 'warning',
  why: 'Expiring credentials, certificates and log times use different clocks.',
  fix: 'Run a time service on both machines: `timedatectl set-ntp true`.',
  async find({ requireDiagnosis }) {
    const { diagnosis, requestedAt, answeredAt } = await requireDiagnosis();
    const at = Date.parse(diagnosis.at);
    // The server may have read its clock at any time in between.
    const skew = at < requestedAt ? at - requestedAt : at > answeredAt ? at - answeredAt : 0;
    if (Math.abs(skew) <= maxSkewMs) return [];
    const seconds = (Math.abs(skew) / 1_000).toFixed(1);
    return [{ what: `The server is ${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} this machine.` }];
  },
};
