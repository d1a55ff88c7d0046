import { setTimeout } from 'node:timers/promises';
import { parseDuration } from '@millrace/contract/plain';
import { endOfSession, followPath } from '@millrace/sdk/executor';
import type { Attempt } from './attempt.ts';
import { callApi } from './call-api.ts';
import type { Inbox } from './inbox.ts';
import { inputInbox, inputPath } from './input-streams.ts';
import { sessionInbox } from './session-streams.ts';
import type { MessageWait, Waited } from './waitpoint.ts';

interface WaitBody {
  /** A duration, or a date. */
  readonly timeout?: string;
  readonly lastSeqNum?: number;
}

export interface SessionWaitBody extends WaitBody {
  readonly session: string;
  readonly io: 'in' | 'out';
}

export interface InputWaitBody extends WaitBody {
  readonly streamId: string;
}

/** The wait for a message to a session. `version` is that of the published SDK. */
export function sessionMessageWait(
  attempt: Attempt,
  { session, io, timeout, lastSeqNum }: SessionWaitBody,
  version: string,
): MessageWait {
  if (io !== 'in') throw new Error('A run waits for messages on `.in` of a session only.');
  const inbox = sessionInbox(attempt, session, io);
  // 4.5 reads the message from the wait, and continues counting from its received messages. Later versions read the channel.
  const beyond = version.startsWith('4.5.') ? inbox.rewind() : (lastSeqNum ?? inbox.beforeNext);
  const records = `/realtime/v1/sessions/${encodeURIComponent(session)}/in/records`;
  const path = beyond < 0 ? records : `${records}?afterEventId=${beyond}`;
  return messageWait(attempt, {
    inbox,
    target: session,
    beyond,
    timeout,
    async first() {
      const { records: found } = (await callApi(attempt, path)) as { records: { data: unknown }[] };
      return found[0];
    },
    end: () => endOfSession(session),
  });
}

/** The wait for a message to an input stream of the run. It is created in advance, so that no message is missed. */
export async function inputMessageWait(
  attempt: Attempt,
  { streamId, timeout }: InputWaitBody,
  version: string,
): Promise<MessageWait> {
  const path = inputPath(attempt, streamId);
  await callApi(attempt, path, 'PUT');
  const inbox = inputInbox(attempt, streamId);
  const beyond = inbox.rewind();
  const wait = messageWait(attempt, {
    inbox,
    target: `session_/input/${streamId}`,
    beyond,
    timeout,
    async first() {
      const options = { lastEventId: beyond < 0 ? undefined : beyond, timeoutInSeconds: 1 };
      for await (const { body } of followPath(path, options)) return JSON.parse(body) as { data: unknown };
      return undefined;
    },
    // The run reads it for as long as it lives.
    end: async () => undefined,
  });
  return {
    async end(begin) {
      const result = await wait.end(begin);
      // Later versions count it themselves.
      if (result.ok && /^4\.[0-4]\./.test(version)) inbox.skipTo(beyond + 1);
      return result;
    },
  };
}

interface Awaited {
  readonly inbox: Inbox;
  /** The target of the wait. */
  readonly target: string;
  readonly beyond: number;
  readonly timeout: string | undefined;
  /** The first later message. */
  readonly first: () => Promise<{ readonly data: unknown } | undefined>;
  /** The reason why no message will arrive. */
  readonly end: () => Promise<Error | undefined>;
}

/** Pause before the next check, when a wait ended without a visible reason. */
const breathMs = 1_000;

function messageWait(attempt: Attempt, { inbox, target, beyond, timeout, first, end }: Awaited): MessageWait {
  const deadline = deadlineOf(timeout);
  return {
    async end(begin) {
      for (;;) {
        const key = `message/${target}/${beyond}/${inbox.countWait(beyond)}`;
        await begin({ key, kind: 'MESSAGE', target, beyond, ...deadline });
        const message = await first();
        if (message) return taken(message);
        const why = await end();
        // A message may have arrived between the check and the end.
        const last = why && (await first());
        if (last) return taken(last);
        if (why) return failed(why.message);
        if (deadline.until !== undefined) return failed('Timed out');
        await setTimeout(breathMs, undefined, { signal: attempt.signal });
      }
    },
  };
}

function deadlineOf(timeout: string | undefined): { readonly until?: number } {
  if (timeout === undefined) return {};
  const ms = parseDuration(timeout);
  return { until: typeof ms === 'number' ? Date.now() + ms : Date.parse(timeout) };
}

const ended = (ok: boolean, output: string): Waited => ({ ok, output, outputType: 'application/json' });
const failed = (message: string): Waited => ended(false, JSON.stringify({ message }));

/** Messages are strings. Valid JSON is parsed. */
function taken({ data }: { readonly data: unknown }): Waited {
  if (typeof data === 'string' && isJson(data)) return ended(true, data);
  return ended(true, JSON.stringify(data));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
