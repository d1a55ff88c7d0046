import type { ApiClient } from '../client/api-client.ts';
import { BadRequestError } from '../client/api-error.ts';
import { whyEnded } from './ended.ts';
import { followChannel } from './follow.ts';
import { controlOf, dataOf, isCommand, type Control } from './records.ts';
import { dataRecord, OutQueue } from './writer.ts';

export interface ReadOptions {
  /** The number of the last record that is known; what comes after it is read. Default: everything from the beginning. */
  lastEventId?: number;
  /** How long to wait for more before the reading ends, in seconds, 1 to 600. Default 60. */
  timeoutInSeconds?: number;
  /** Ends the reading. */
  signal?: AbortSignal;
  /** Told of control records, such as the end of a turn, between the chunks. */
  onControl?: (control: Control) => void;
  /** Told of each record's number, to be given as `lastEventId` the next time. */
  onEventId?: (seq: number) => void;
}

/** Writes chunks one after the other. */
export interface Writer<T = unknown> {
  /** Resolves with the chunk's number when it is durable. Not awaiting it keeps the order all the same. */
  write(chunk: T): Promise<number>;
  /** Resolves when everything is durable. */
  close(): Promise<void>;
}

/** What a task writes and clients read. */
export interface SessionOut {
  /**
   * The chunks, each once and in order. Connections that break are made again from where they were. Ends when there was no news for the
   * time to wait.
   *
   * @example
   * for await (const chunk of session.out.read<{ text: string }>()) show(chunk.text);
   */
  read<T = unknown>(options?: ReadOptions): AsyncGenerator<T, void, undefined>;
  /** Appends one chunk: JSON. Resolves with its number. Needs a secret key. Throws a SessionClosedError once the session has ended, as all writing does. */
  append(chunk: unknown): Promise<number>;
  /**
   * Appends everything that a source gives, in as few requests as its pace asks for; resolves with how many chunks that were when all of
   * them are durable.
   *
   * @example
   * await session.out.pipe(result.textStream);
   */
  pipe(source: AsyncIterable<unknown> | Iterable<unknown> | ReadableStream<unknown>): Promise<number>;
  writer<T = unknown>(): Writer<T>;
  /** Appends a control record: a sign to the readers, without data. */
  writeControl(subtype: string, headers?: Readonly<Record<string, string>>): Promise<number>;
}

export function sessionOut(
  client: ApiClient,
  session: string,
  consumed: () => number | undefined,
): SessionOut {
  const queue = () =>
    new OutQueue(async (records, partId) => {
      const written = client.call('writeSessionOut', {
        params: { session },
        headers: { 'x-part-id': partId },
        body: { records: [...records] },
      });
      const { start } = await written.catch(async (error: unknown) => {
        const ended =
          error instanceof BadRequestError && (await whyEnded(client, session).catch(() => undefined));
        throw ended || error;
      });
      return start;
    });
  return {
    async *read<T>({ onControl, onEventId, ...options }: ReadOptions = {}) {
      for await (const record of followChannel(client, 'subscribeToSessionOut', session, options)) {
        const control = controlOf(record);
        if (control) onControl?.(control);
        else if (!isCommand(record)) yield dataOf(record) as T;
        onEventId?.(record.seq);
      }
    },

    append: async (chunk) => queue().add(dataRecord(chunk)),

    async pipe(source) {
      const writing = queue();
      let count = 0;
      let failed: { readonly reason: unknown } | undefined;
      let last: Promise<unknown> = Promise.resolve();
      for await (const chunk of chunksOf(source)) {
        last = writing.add(dataRecord(chunk)).catch((reason: unknown) => (failed ??= { reason }));
        count += 1;
        if (failed) break;
        // A source that never pauses waits for what it gave.
        if (count % 1_000 === 0) await last;
      }
      await last;
      if (failed) throw failed.reason;
      return count;
    },

    writer() {
      const writing = queue();
      let last: Promise<unknown> = Promise.resolve();
      return {
        write(chunk) {
          const written = writing.add(dataRecord(chunk));
          last = written;
          // Whoever does not await it hears of it at the close.
          written.catch(() => {});
          return written;
        },
        async close() {
          await last;
        },
      };
    },

    writeControl(subtype, headers = {}) {
      // The next run that serves the session goes on from there.
      const read = subtype === 'turn-complete' ? consumed() : undefined;
      const pairs: [string, string][] = [['trigger-control', subtype], ...Object.entries(headers)];
      if (read !== undefined) pairs.push(['session-in-event-id', String(read)]);
      return queue().add({ body: '', headers: pairs });
    },
  };
}

export async function* chunksOf(
  source: AsyncIterable<unknown> | Iterable<unknown> | ReadableStream<unknown>,
) {
  // Not every browser iterates its streams.
  if (!(Symbol.asyncIterator in source) && 'getReader' in source) {
    const reader = (source as unknown as ReadableStream<unknown>).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  }
  yield* source as AsyncIterable<unknown>;
}
