import { z } from 'zod';
import { operation } from '../operation.ts';
import { runId } from './runs.ts';

export const cancelRun = operation({
  id: 'cancelRun',
  method: 'POST',
  path: '/api/v2/runs/:runId/cancel',
  tag: 'runs',
  summary: 'Cancel a run and its descendants',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'runs', objects: true },
  params: runId,
  reply: z.object({ id: z.string() }),
  errors: [404],
});
