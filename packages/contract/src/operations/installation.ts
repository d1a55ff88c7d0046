import { z } from 'zod';
import { operation } from '../operation.ts';

/** How to handle ticks of schedules that fell due while the installation was paused. */
export const missedTicks = z.enum(['skip', 'fire']);
export type MissedTicks = z.infer<typeof missedTicks>;

export const resumeInstallation = operation({
  id: 'resumeInstallation',
  method: 'POST',
  path: '/api/v1/resume',
  tag: 'installation',
  summary: 'End the pause that `start --paused` began, on all servers',
  access: { personalAccessToken: true, installation: true },
  body: z.object({
    /**
     * `skip`: they are recorded as missed and not fired, for a restored database whose schedules continued before the restore. `fire`: each
     * schedule's own rule for missed ticks applies, as after any outage. Required only if ticks have fallen due (409 otherwise).
     */
    missedTicks: missedTicks.optional(),
  }),
  bodyOptional: true,
  reply: z.object({
    /** False if the installation was not paused; nothing is changed then. */
    wasPaused: z.boolean(),
    /** Number of schedules with ticks that fell due. */
    schedules: z.number().int(),
  }),
  errors: [409],
});
