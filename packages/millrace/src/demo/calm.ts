import { setTimeout as pause } from 'node:timers/promises';
import { runs } from '@millrace/sdk';
import { newsletter } from './seed/queues.ts';

/** Waits until no runs remain except those that wait on purpose. Returns false if that takes too long. */
export async function calm(maxMs: number): Promise<boolean> {
  for (const deadline = performance.now() + maxMs; performance.now() < deadline; await pause(400)) {
    const busy = await runs.count({ status: ['QUEUED', 'DEQUEUED', 'EXECUTING'] });
    const waiting = await runs.count({ status: 'QUEUED', queue: newsletter });
    if (busy.count === waiting.count) return true;
  }
  return false;
}
