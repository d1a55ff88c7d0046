import { followPath } from '@millrace/sdk/executor';
import { requireAttempt, type Attempt } from './attempt.ts';
import { Inbox, type OnceOptions } from './inbox.ts';

/** The path of an input stream of the calling run. */
export const inputPath = ({ scope }: Attempt, stream: string): string =>
  `/realtime/v1/streams/${encodeURIComponent(scope.run)}/input/${encodeURIComponent(stream)}`;

/** The inbox of an input stream of the calling attempt's run. */
export function inputInbox(attempt: Attempt, stream: string): Inbox {
  const path = inputPath(attempt, stream);
  const known = attempt.inboxes.get(path);
  if (known) return known;
  const inbox = new Inbox(
    { follow: (options) => followPath(path, options), end: async () => undefined, onTaken() {} },
    attempt.signal,
  );
  attempt.inboxes.set(path, inbox);
  return inbox;
}

/** Their `input-streams` API (4.4 and later). */
export function inputStreamsApi(): object {
  const inbox = (stream: string): Inbox => inputInbox(requireAttempt('streams.input'), stream);
  const all = (): Inbox[] => [...requireAttempt('streams.input').inboxes.values()];
  return {
    setRunId() {},
    connectTail() {},
    on: (stream: string, handler: (data: unknown) => unknown) =>
      inbox(stream).on(({ data }) => {
        handler(data);
        // Unlike a message to a session, it is dropped once a handler has received it.
        return true;
      }),
    once: (stream: string, options?: OnceOptions) =>
      inbox(stream)
        .once(options)
        .map(({ data }) => data),
    peek: (stream: string) => inbox(stream).first?.data,
    lastSeqNum: (stream: string) => inbox(stream).received,
    setLastSeqNum: (stream: string, seqNum: number) => inbox(stream).skipTo(seqNum),
    shiftBuffer: (stream: string) => inbox(stream).shift(),
    disconnectStream: (stream: string) => inbox(stream).disconnect(),
    clearHandlers: () => all().forEach((stream) => stream.clearHandlers()),
    disconnect: () => all().forEach((stream) => stream.disconnect()),
    reset: () => all().forEach((stream) => stream.close()),
  };
}
