import { endOfSession, followPath } from '@millrace/sdk/executor';
import { requireAttempt, type Attempt } from './attempt.ts';
import { Inbox, type Message, type OnceOptions } from './inbox.ts';

type Io = 'in' | 'out';

const pathOf = (session: string, io: Io, channel: string | undefined): string =>
  `/realtime/v1/sessions/${encodeURIComponent(session)}/${
    channel === undefined ? '' : `channels/${encodeURIComponent(channel)}/`
  }${io}`;

/** The inbox of a session's channel in the calling attempt; `channel` is an additional one, besides the session's own two. */
export function sessionInbox(attempt: Attempt, session: string, io: Io, channel?: string): Inbox {
  const path = pathOf(session, io, channel);
  const known = attempt.inboxes.get(path);
  if (known) return known;
  const { consumed } = attempt.scope;
  const inbox = new Inbox(
    {
      follow: (options) => followPath(path, options),
      end: () => endOfSession(session),
      // The run's outcome reports its position to the server; later messages are for another run.
      onTaken(seqNum) {
        if (io === 'in' && channel === undefined) consumed?.set(session, seqNum ?? -1);
      },
    },
    attempt.signal,
  );
  attempt.inboxes.set(path, inbox);
  return inbox;
}

/** The `session-streams` API (4.5 and later). The last parameter of each method was added after 4.5. */
export function sessionStreamsApi(): object {
  const inbox = (session: string, io: Io, channel?: string): Inbox =>
    sessionInbox(requireAttempt('sessions'), session, io, channel);
  const all = (): Inbox[] => [...requireAttempt('sessions').inboxes.values()];
  return {
    on: (session: string, io: Io, handler: (data: unknown) => unknown, channel?: string) =>
      inbox(session, io, channel).on(({ data }) => handler(data)),
    onRecord: (session: string, io: Io, handler: (message: Message) => unknown, channel?: string) =>
      inbox(session, io, channel).on(handler),
    once: (session: string, io: Io, options?: OnceOptions, channel?: string) =>
      inbox(session, io, channel)
        .once(options)
        .map(({ data }) => data),
    onceRecord: (session: string, io: Io, options?: OnceOptions, channel?: string) =>
      inbox(session, io, channel).once(options),
    onceRecordWhere: (
      session: string,
      io: Io,
      accepts: (message: Message) => boolean,
      options?: OnceOptions,
      channel?: string,
    ) => inbox(session, io, channel).once(options, accepts),
    peek: (session: string, io: Io, channel?: string) => inbox(session, io, channel).first?.data,
    peekRecord: (session: string, io: Io, channel?: string) => inbox(session, io, channel).first,
    lastSeqNum: (session: string, io: Io, channel?: string) => inbox(session, io, channel).received,
    setLastSeqNum: (session: string, io: Io, seqNum: number, channel?: string) =>
      inbox(session, io, channel).skipTo(seqNum),
    consumeRecord: (session: string, io: Io, seqNum: number, channel?: string) =>
      inbox(session, io, channel).consume(seqNum),
    lastDispatchedSeqNum: (session: string, io: Io, channel?: string) => inbox(session, io, channel).taken,
    setLastDispatchedSeqNum: (session: string, io: Io, seqNum: number, channel?: string) =>
      inbox(session, io, channel).markTaken(seqNum),
    setMinTimestamp: (session: string, io: Io, time: number | undefined, channel?: string) =>
      inbox(session, io, channel).dropUntil(time),
    shiftBuffer: (session: string, io: Io, channel?: string) => inbox(session, io, channel).shift(),
    disconnectStream: (session: string, io: Io, channel?: string) => inbox(session, io, channel).disconnect(),
    reconnectStream: (session: string, io: Io, channel?: string) => inbox(session, io, channel).connect(),
    clearHandlers: () => all().forEach((stream) => stream.clearHandlers()),
    disconnect: () => all().forEach((stream) => stream.disconnect()),
    reset: () => all().forEach((stream) => stream.close()),
  };
}
