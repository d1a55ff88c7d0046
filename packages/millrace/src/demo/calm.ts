import { setTimeout as pause } from 'node:timers/promises';
import { runs } from '@millrace/sdk';
import { newsletter } from './seed/queues.ts';

/** Waits until nothing is under way but what waits on purpose. False if it has not come to that in time. */
export async function calm(maxMs: number): Promise<boolean> {
  for (const deadline = performance.now() + maxMs; performance.now() < deadline; await pause(400)) {
    const busy = await runs.count({ status: ['QUEUED', 'DEQUEUED', 'EXECUTING'] });
    const held = await runs.count({ status: 'QUEUED', queue: newsletter });
    if (busy.count === held.count) return true;
  }
  return false;
}
