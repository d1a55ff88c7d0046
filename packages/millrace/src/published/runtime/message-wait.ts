import { setTimeout } from 'node:timers/promises';
import { parseDuration } from '@millrace/contract/plain';
import type { Wait } from '@millrace/contract/runner';
import { endOfSession } from '@millrace/sdk/executor';
import type { Attempt } from './attempt.ts';
import { callApi } from './call-api.ts';
import type { Inbox } from './inbox.ts';
import { sessionInbox } from './session-streams.ts';

export interface MessageWaitBody {
  readonly session: string;
  readonly io: 'in' | 'out';
  /** A duration, or a date. */
  readonly timeout?: string;
  readonly lastSeqNum?: number;
}

/** What came of a wait for a message, as `waitUntil` of the published SDK resolves with. */
interface Ended {
  readonly ok: boolean;
  readonly output: string;
  readonly outputType: string;
}

/** A wait for the message after the last one that the code has taken. */
export interface MessageWait {
  readonly end: (begin: (wait: Wait) => Promise<void>) => Promise<Ended>;
}

/** Between two looks, when a wait was over without a visible reason. */
const breathMs = 1_000;

const ended = (ok: boolean, output: string): Ended => ({ ok, output, outputType: 'application/json' });
const failed = (message: string): Ended => ended(false, JSON.stringify({ message }));

/** The wait that a request announces. `version` is that of the published SDK. */
export function sessionMessageWait(
  attempt: Attempt,
  { session, io, timeout, lastSeqNum }: MessageWaitBody,
  version: string,
): MessageWait {
  if (io !== 'in') throw new Error('A run waits for messages on `.in` of a session only.');
  const inbox = sessionInbox(attempt, session, io);
  const deadline = deadlineOf(timeout);
  const beyond = beyondOf(inbox, lastSeqNum, version);
  const records = `/realtime/v1/sessions/${encodeURIComponent(session)}/in/records`;
  const first = async (): Promise<string | undefined> =>
    textOf(await callApi(attempt, beyond < 0 ? records : `${records}?afterEventId=${beyond}`));
  return {
    async end(begin) {
      for (;;) {
        const key = `message/${session}/${beyond}/${inbox.countWait(beyond)}`;
        await begin({ key, kind: 'MESSAGE', target: session, beyond, ...deadline });
        const text = await first();
        if (text !== undefined) return ended(true, text);
        const end = await endOfSession(session);
        // A message may have come between the look and the end.
        if (end) return endedBy(await first(), end);
        if (deadline.until !== undefined) return failed('Timed out');
        await setTimeout(breathMs, undefined, { signal: attempt.signal });
      }
    },
  };
}

const endedBy = (text: string | undefined, end: Error): Ended =>
  text === undefined ? failed(end.message) : ended(true, text);

/** 4.5 takes the message from the wait and counts on from what it has received, so what it has received and not taken comes again. */
function beyondOf(inbox: Inbox, lastSeqNum: number | undefined, version: string): number {
  if (!version.startsWith('4.5.')) return lastSeqNum ?? inbox.beforeNext;
  const beyond = inbox.beforeNext;
  inbox.rewind(beyond);
  return beyond;
}

function deadlineOf(timeout: string | undefined): { readonly until?: number } {
  if (timeout === undefined) return {};
  const ms = parseDuration(timeout);
  return { until: typeof ms === 'number' ? Date.now() + ms : Date.parse(timeout) };
}

/** The first of these records, as JSON. What is no JSON is a text. */
function textOf(reply: unknown): string | undefined {
  const [first] = (reply as { readonly records: readonly { readonly data: unknown }[] }).records;
  if (!first) return undefined;
  if (typeof first.data === 'string' && isJson(first.data)) return first.data;
  return JSON.stringify(first.data);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
