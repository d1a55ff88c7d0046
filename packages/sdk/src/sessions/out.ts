import type { ApiClient } from '../client/api-client.ts';
import { BadRequestError } from '../client/api-error.ts';
import { whyEnded } from './ended.ts';
import { followChannel } from './follow.ts';
import { controlOf, dataOf, isCommand, type Control } from './records.ts';
import { dataRecord, OutQueue } from './writer.ts';

export interface ReadOptions {
  /** The sequence number of the last known record; reading starts after it. Default: everything from the beginning. */
  lastEventId?: number;
  /** Seconds to wait for more records before reading ends, 1 to 600. Default 60. */
  timeoutInSeconds?: number;
  /** Stops reading. */
  signal?: AbortSignal;
  /** Called with control records, such as the end of a turn, between the chunks. */
  onControl?: (control: Control) => void;
  /** Called with each record's number, which can be passed as `lastEventId` the next time. */
  onEventId?: (seq: number) => void;
}

/** Writes chunks in sequence. */
export interface Writer<T = unknown> {
  /** Resolves with the chunk's number when it is durable. The order is preserved even without awaiting it. */
  write(chunk: T): Promise<number>;
  /** Resolves when everything is durable. */
  close(): Promise<void>;
}

/** The channel that a task writes to and clients read from. */
export interface SessionOut {
  /**
   * The chunks, each once and in order. Broken connections resume from the same position. Ends when no records arrived within the time limit.
   *
   * @example
   * for await (const chunk of session.out.read<{ text: string }>()) show(chunk.text);
   */
  read<T = unknown>(options?: ReadOptions): AsyncGenerator<T, void, undefined>;
  /**
   * Appends one chunk of JSON. Resolves with its number. Requires a secret key. Like all writes, throws a SessionClosedError once the session
   * has ended.
   */
  append(chunk: unknown): Promise<number>;
  /**
   * Appends all items of a source, in as few requests as its pace allows. Resolves with the number of chunks when all of them are durable.
   *
   * @example
   * await session.out.pipe(result.textStream);
   */
  pipe(source: AsyncIterable<unknown> | Iterable<unknown> | ReadableStream<unknown>): Promise<number>;
  writer<T = unknown>(): Writer<T>;
  /** Appends a control record: a signal to the readers, without data. */
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
        // A source that never pauses must wait for its items to be written.
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
          // A caller that does not await it receives the error at close.
          written.catch(() => {});
          return written;
        },
        async close() {
          await last;
        },
      };
    },

    writeControl(subtype, headers = {}) {
      // The next run that serves the session continues from this point.
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
  // Not every browser supports iterating over streams.
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
