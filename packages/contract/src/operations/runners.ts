import { z } from 'zod';
import { operation } from '../operation.ts';
import { date } from './shapes.ts';

export const runner = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.number().int(),
  /** The platform, such as `linux-x64-glibc`; null if the runner does not report it. */
  platform: z.string().nullable(),
  nodeMajor: z.number().int().nullable(),
  labels: z.array(z.string()),
  /** Versions that it has loaded. */
  versions: z.array(z.string()),
  /** Maximum number of concurrent attempts. */
  slots: z.number().int(),
  /** Number of attempts that it executes or has queued. */
  running: z.number().int(),
  draining: z.boolean(),
  connectedAt: date,
  lastHeartbeatAt: date,
});
export type RunnerInfo = z.infer<typeof runner>;

const write = { secretKey: true, action: 'write', on: 'deployments', forbidsRuns: true } as const;
const params = z.object({ runnerId: z.string().min(1).max(128) });

export const listRunners = operation({
  id: 'listRunners',
  method: 'GET',
  path: '/api/v1/runners',
  tag: 'runners',
  summary: 'List connected runners, newest first',
  access: { secretKey: true, action: 'read', on: 'deployments' },
  reply: z.object({ data: z.array(runner) }),
});

export const drainRunner = operation({
  id: 'drainRunner',
  method: 'POST',
  path: '/api/v1/runners/:runnerId/drain',
  tag: 'runners',
  summary: 'Drain a runner, or resume it',
  access: write,
  params,
  body: z.object({ draining: z.boolean().default(true) }),
  bodyOptional: true,
  reply: runner,
  errors: [404],
});

export const stopRunner = operation({
  id: 'stopRunner',
  method: 'POST',
  path: '/api/v1/runners/:runnerId/stop',
  tag: 'runners',
  summary: 'Stop a runner: it finishes its attempts in time and returns the rest to the queue',
  access: write,
  params,
  reply: runner,
  errors: [404],
});
