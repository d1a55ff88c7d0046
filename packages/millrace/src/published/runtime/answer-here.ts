import { randomUUID } from 'node:crypto';
import type { Attempt } from './attempt.ts';
import { sessionMessageWait, type MessageWaitBody } from './message-wait.ts';

interface WaitBody {
  readonly date?: string;
  readonly idempotencyKey?: string;
}

const announced =
  /^\/(?:engine\/v1|api\/v1)\/runs\/[^/]+\/(wait\/duration|waitpoints\/tokens\/[^/]+\/wait|session-streams\/wait)$/;

/**
 * The answers to requests with which the published SDK announces a wait. There is nothing to tell the server before the wait begins, so
 * they are given in this process. Undefined for other requests.
 */
export function answerHere(
  attempt: Attempt,
  path: string,
  headers: Headers,
  body: string | undefined,
): object | undefined {
  const what = announced.exec(path)?.[1];
  if (what === undefined) return undefined;
  if (what === 'wait/duration') return duration(attempt, JSON.parse(body ?? '{}') as WaitBody);
  if (what !== 'session-streams/wait') return { success: true };
  const id = `waitpoint_${randomUUID()}`;
  const version = headers.get('trigger-version') ?? '';
  const message = sessionMessageWait(attempt, JSON.parse(body ?? '{}') as MessageWaitBody, version);
  attempt.waitpoints.set(id, { message });
  return { waitpointId: id, isCached: false };
}

function duration(attempt: Attempt, { date = '', idempotencyKey }: WaitBody): object {
  const id = `waitpoint_${randomUUID()}`;
  const key = idempotencyKey === undefined ? `time/${nextTime(attempt)}` : `time/key/${idempotencyKey}`;
  attempt.waitpoints.set(id, { time: { key, kind: 'TIME', until: Date.parse(date) } });
  return { waitUntil: date, waitpoint: { id } };
}

/** As our own `wait.for` counts. */
function nextTime({ scope: { waits } }: Attempt): number {
  const count = (waits?.counts.get('time') ?? 0) + 1;
  waits?.counts.set('time', count);
  return count;
}
