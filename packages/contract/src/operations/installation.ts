import { z } from 'zod';
import { operation } from '../operation.ts';

/** What becomes of the ticks of schedules that fell due while the installation was paused. */
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
     * `skip`: they are recorded as missed and not fired, for a restored database whose schedules went on before the restore. `fire`: each
     * schedule's own rule for missed ticks holds, as after any standstill. Needed only where ticks have fallen due (409 otherwise).
     */
    missedTicks: missedTicks.optional(),
  }),
  bodyOptional: true,
  reply: z.object({
    /** False where nothing was paused; nothing is changed then. */
    wasPaused: z.boolean(),
    /** How many schedules had ticks that fell due. */
    schedules: z.number().int(),
  }),
  errors: [409],
});
