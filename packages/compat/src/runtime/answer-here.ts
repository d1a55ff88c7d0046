import { randomUUID } from 'node:crypto';
import type { Attempt } from './attempt.ts';
import {
  inputMessageWait,
  sessionMessageWait,
  type InputWaitBody,
  type SessionWaitBody,
} from './message-wait.ts';
import type { MessageWait } from './waitpoint.ts';

interface DurationBody {
  readonly date?: string;
  readonly idempotencyKey?: string;
}

interface BatchBody {
  /** 4.1 and later. */
  readonly runCount?: number;
  /** 4.0. */
  readonly items?: readonly unknown[];
}

const announced =
  /^\/(?:engine|api)\/v1\/runs\/[^/]+\/(wait\/duration|waitpoints\/tokens\/[^/]+\/wait|session-streams\/wait|input-streams\/wait)$/;

/**
 * Responses to requests that need no server. With some of these requests the published SDK announces a wait that begins later; others open a
 * batch without items, which the API does not support. Undefined for other requests.
 */
export async function answerHere(
  attempt: Attempt,
  path: string,
  headers: Headers,
  body = '{}',
): Promise<object | undefined> {
  if (path === '/api/v3/batches' || path === '/api/v2/tasks/batch') return emptyBatch(body);
  const what = announced.exec(path)?.[1];
  switch (what) {
    case undefined:
      return undefined;
    case 'wait/duration':
      return duration(attempt, JSON.parse(body) as DurationBody);
    case 'session-streams/wait':
      return message(
        attempt,
        sessionMessageWait(attempt, JSON.parse(body) as SessionWaitBody, versionOf(headers)),
      );
    case 'input-streams/wait':
      return message(
        attempt,
        await inputMessageWait(attempt, JSON.parse(body) as InputWaitBody, versionOf(headers)),
      );
    default:
      return { success: true };
  }
}

/** `isCached` prevents the upload of items. */
function emptyBatch(body: string): object | undefined {
  // Bodies of other batches are large and are not parsed.
  if (!/"runCount":0\b|"items":\[\]/.test(body)) return undefined;
  const { runCount, items } = JSON.parse(body) as BatchBody;
  return (runCount ?? items?.length) === 0
    ? { id: `batch_${randomUUID()}`, runCount: 0, isCached: true }
    : undefined;
}

/** The version of the published SDK. */
const versionOf = (headers: Headers): string => headers.get('trigger-version') ?? '';

function message(attempt: Attempt, wait: MessageWait): object {
  const id = `waitpoint_${randomUUID()}`;
  attempt.waitpoints.set(id, { message: wait });
  return { waitpointId: id, isCached: false };
}

function duration(attempt: Attempt, { date = '', idempotencyKey }: DurationBody): object {
  const id = `waitpoint_${randomUUID()}`;
  const key = idempotencyKey === undefined ? `time/${nextTime(attempt)}` : `time/key/${idempotencyKey}`;
  attempt.waitpoints.set(id, { time: { key, kind: 'TIME', until: Date.parse(date) } });
  return { waitUntil: date, waitpoint: { id } };
}

/** Uses the same counter as our own `wait.for`. */
function nextTime({ scope: { waits } }: Attempt): number {
  const count = (waits?.counts.get('time') ?? 0) + 1;
  waits?.counts.set('time', count);
  return count;
}
