import { randomUUID } from 'node:crypto';
import type { Attempt } from './attempt.ts';

interface WaitBody {
  readonly date?: string;
  readonly idempotencyKey?: string;
  readonly session?: string;
  readonly io?: string;
  readonly timeout?: string;
  readonly timeoutInSeconds?: number;
  readonly lastSeqNum?: number;
}

/**
 * The answers to requests with which the published SDK announces a wait. There is nothing to tell the server before the wait begins, so
 * they are given in this process. Undefined for other requests.
 */
export function answerHere(attempt: Attempt, path: string, body: string | undefined): object | undefined {
  const at = /^\/engine\/v1\/runs\/[^/]+\/(wait\/duration|waitpoints\/tokens\/[^/]+\/wait)$/.exec(path)?.[1];
  if (at === undefined) return undefined;
  if (at !== 'wait/duration') return { success: true };
  const { date = '', idempotencyKey } = JSON.parse(body ?? '{}') as WaitBody;
  const id = `waitpoint_${randomUUID()}`;
  const key = idempotencyKey === undefined ? `time/${nextTime(attempt)}` : `time/key/${idempotencyKey}`;
  attempt.waitpoints.set(id, { key, kind: 'TIME', until: Date.parse(date) });
  return { waitUntil: date, waitpoint: { id } };
}

/** As our own `wait.for` counts. */
function nextTime({ scope: { waits } }: Attempt): number {
  const count = (waits?.counts.get('time') ?? 0) + 1;
  waits?.counts.set('time', count);
  return count;
}
