import type { ApiClient } from '../client/api-client.ts';
import { jsonText } from '../payload/json.ts';
import { currentRun, type RunWaits } from '../run-scope.ts';
import { ResultPromise, type WaitResult } from '../wait/result-promise.ts';
import { whyEnded, type SessionClosedError } from './ended.ts';
import { followChannel, type ChannelRecord } from './follow.ts';
import { pause } from '../runs/pause.ts';
import { dataOf, parsedMessage } from './records.ts';

/** A message on `.in`. */
export interface Message<T = unknown> {
  readonly data: T;
  /** Its sequence number, starting at 0. */
  readonly seq: number;
  readonly at: Date;
}

export interface WaitOptions {
  /** Seconds to wait. Default: as long as the session accepts messages. */
  timeoutInSeconds?: number;
}

/** No message arrived within the time limit. */
export class SessionTimeoutError extends Error {
  override readonly name = 'SessionTimeoutError';
}

/** The channel that clients write to and a task reads from. */
export interface SessionIn {
  /**
   * Sends a message to the task: a string verbatim, everything else as JSON. Starts a run for the session if none serves it. Safe to retry: the
   * message is appended once.
   *
   * @example
   * await session.in.send({ text: 'Hello' });
   */
  send(data: unknown): Promise<void>;
  /**
   * The next message that this run has not consumed. Await it for the result, or `unwrap()` it, which throws a SessionTimeoutError if no
   * message arrived in time, and a SessionClosedError if the session was closed or has expired and all messages have been consumed. The run
   * is WAITING in the meantime, as with `wait.for`. Only in a task: requires a secret key.
   *
   * @example
   * const { text } = await session.in.wait<{ text: string }>({ timeoutInSeconds: 300 }).unwrap();
   */
  wait<T = unknown>(options?: WaitOptions): ResultPromise<WaitResult<T>>;
  /** The next message, without consuming it; undefined if there is none. */
  peek<T = unknown>(): Promise<Message<T> | undefined>;
  /** Calls back with each new message, in order, until `off`. `wait` does not return messages that were passed to the callback. */
  on<T = unknown>(handle: (message: Message<T>) => void | Promise<void>): { off(): void };
}

/** How far a session's `.in` has been read. */
export interface Position {
  /** The sequence number of the last consumed message; undefined before the first. */
  last: number | undefined;
  ready: Promise<void> | undefined;
  /** The number of waits for a message after that one. */
  waits: number;
}

const maxWaitSeconds = 600;
/** Interval for checking whether the session has ended, which is not reported when following a channel. */
const askAgainSeconds = 5;
/** Pause after a wait that ended without a visible reason. */
const breathMs = 1_000;
/** Number of records at the end that are searched for the last completed turn; each further search covers a multiple of it. */
const firstLook = 1_000;
const lookFactor = 8;

const positions = new WeakMap<object, Map<string, Position>>();

/** Handles of the same session within a run share a position; elsewhere each has its own. */
export function positionIn(session: string): Position {
  const fresh: Position = { last: undefined, ready: undefined, waits: 0 };
  const run = currentRun();
  if (!run) return fresh;
  let known = positions.get(run);
  if (!known) positions.set(run, (known = new Map<string, Position>()));
  const position = known.get(session) ?? fresh;
  known.set(session, position);
  return position;
}

export function sessionIn(client: ApiClient, session: string, position: Position): SessionIn {
  /** Reported with the run's outcome; later messages are for another run. */
  const note = (): void => void currentRun()?.consumed?.set(session, position.last ?? -1);
  const took = (seq: number): void => {
    // A wait may have consumed the message already.
    if (seq <= (position.last ?? -1)) return;
    position.last = seq;
    position.waits = 0;
    note();
  };

  /** A run starts after the last message of the last completed turn. */
  const ready = (): Promise<void> => {
    position.ready ??= lastConsumed(client, session).then(
      (last) => {
        position.last ??= last;
        note();
      },
      (error: unknown) => {
        position.ready = undefined;
        throw error;
      },
    );
    return position.ready;
  };

  /** The next available message. */
  const next = async () => {
    const path = { params: { session }, query: { afterEventId: position.last } };
    return (await client.call('listSessionInRecords', path)).records[0];
  };

  const take = async <T>({ timeoutInSeconds }: WaitOptions): Promise<WaitResult<T>> => {
    await ready();
    const until = timeoutInSeconds === undefined ? Infinity : Date.now() + timeoutInSeconds * 1_000;
    const waits = client.settings.isAmbient ? currentRun()?.waits : undefined;
    const got = waits ? await suspendedUntil<T>(waits, until) : await followedUntil<T>(until);
    if (got instanceof Error) return { ok: false, error: got };
    if (got) return { ok: true, output: got.data };
    return { ok: false, error: new SessionTimeoutError(`No message arrived within ${timeoutInSeconds} s.`) };
  };

  /** Consumes the next message if there is one. */
  const takeNext = async <T>(): Promise<{ readonly data: T } | undefined> => {
    for (;;) {
      const found = await next();
      currentRun()?.signal?.throwIfAborted();
      if (!found) return undefined;
      // Another part of the code consumed it in the meantime.
      if (found.seqNum <= (position.last ?? -1)) continue;
      took(found.seqNum);
      return { data: parsedMessage(found.data) as T };
    }
  };

  /** In a run: releases its slot while there is no message. */
  const suspendedUntil = async <T>(waits: RunWaits, until: number): Promise<Got<T>> => {
    for (let waitedBeyond: number | undefined; ;) {
      const found = await takeNext<T>();
      if (found || Date.now() >= until) return found;
      const beyond = position.last ?? -1;
      if (beyond === waitedBeyond) {
        const ended = await whyEnded(client, session);
        // A message may have arrived between the check and the end.
        if (ended) return (await takeNext<T>()) ?? ended;
        // When the code is executed again, the deadline may already have passed.
        if (until < Infinity) return undefined;
        await pause(breathMs, currentRun()?.signal);
      }
      await waits.begin({
        key: `message/${session}/${beyond}/${++position.waits}`,
        kind: 'MESSAGE',
        target: session,
        beyond,
        ...(until < Infinity && { inMs: Math.max(0, until - Date.now()) }),
      });
      waitedBeyond = beyond;
    }
  };

  const followedUntil = async <T>(until: number): Promise<Got<T>> => {
    const signal = currentRun()?.signal;
    for (;;) {
      // The server is not available. Following the channel reports permanent errors.
      const ended = await whyEnded(client, session).catch(() => undefined);
      if (ended) return (await takeNext<T>()) ?? ended;
      const left = Math.ceil((until - Date.now()) / 1_000);
      const seconds = Math.max(1, Math.min(askAgainSeconds, left));
      const options = { lastEventId: position.last, timeoutInSeconds: seconds, signal };
      for await (const record of followChannel(client, 'subscribeToSessionIn', session, options)) {
        took(record.seq);
        return messageOf<T>(record);
      }
      if (signal?.aborted) throw signal.reason;
      if (Date.now() >= until) return undefined;
    }
  };

  return {
    async send(data) {
      const text = typeof data === 'string' ? data : jsonText(data, 'message');
      if (text === undefined) throw new TypeError('session.in.send accepts a string or a JSON value.');
      await client.call('appendToSessionIn', {
        params: { session },
        text,
        headers: { 'x-part-id': crypto.randomUUID() },
      });
    },

    wait: <T>(options: WaitOptions = {}) => ResultPromise.of(take<T>(options)),

    async peek<T>() {
      await ready();
      const first = await next();
      return first && { data: parsedMessage(first.data) as T, seq: first.seqNum, at: new Date() };
    },

    on<T>(handle: (message: Message<T>) => void | Promise<void>) {
      const stop = new AbortController();
      const ended = currentRun()?.signal;
      const signal = ended ? AbortSignal.any([ended, stop.signal]) : stop.signal;
      const follow = async (): Promise<void> => {
        await ready();
        while (!signal.aborted) {
          const options = { lastEventId: position.last, timeoutInSeconds: maxWaitSeconds, signal };
          for await (const record of followChannel(client, 'subscribeToSessionIn', session, options)) {
            if (signal.aborted) return;
            took(record.seq);
            await handle(messageOf<T>(record));
          }
          // The iteration ended by timeout, or because the session has ended.
          if (await whyEnded(client, session).catch(() => undefined)) return;
        }
      };
      void follow().catch((error: unknown) => {
        // An error in a handler is uncaught, as with event listeners.
        if (!signal.aborted) queueMicrotask(() => Promise.reject(error));
      });
      return { off: () => stop.abort() };
    },
  };
}

/** Undefined after a timeout. */
type Got<T> = { readonly data: T } | SessionClosedError | undefined;

const messageOf = <T>(record: ChannelRecord): Message<T> => ({
  data: parsedMessage(dataOf(record)) as T,
  seq: record.seq,
  at: new Date(record.at),
});

/** The position in `.in` according to the last completed turn. */
async function lastConsumed(client: ApiClient, session: string): Promise<number | undefined> {
  const path = { params: { session } };
  const { header } = await client.callWithHeaders('lookAtSessionOut', path);
  let end = Number(header('x-last-chunk-index') ?? -1);
  for (let size = firstLook; end >= 0; size *= lookFactor) {
    const start = Math.max(-1, end - size);
    let last: number | undefined;
    for (let after = start; after < end;) {
      const { records } = await client.call('listSessionOutRecords', {
        ...path,
        query: { afterEventId: after >= 0 ? after : undefined },
      });
      for (const { seqNum, headers = [] } of records) {
        const read = headers.find(([name]) => name === 'session-in-event-id')?.[1];
        if (seqNum <= end && read !== undefined && /^\d+$/.test(read)) last = Number(read);
      }
      // A response may be limited in size.
      after = records.at(-1)?.seqNum ?? end;
    }
    if (last !== undefined) return last;
    end = start;
  }
  return undefined;
}
