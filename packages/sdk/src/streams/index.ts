import { currentClient } from '../client/current-client.ts';
import { pathOf } from '../client/path.ts';
import { currentRun } from '../run-scope.ts';
import { runId, type RunReference } from '../runs/run.ts';
import { followRecords } from '../sessions/follow.ts';
import { chunksOf, type Writer } from '../sessions/out.ts';
import { dataOf, isCommand } from '../sessions/records.ts';
import { dataRecord, OutQueue } from '../sessions/writer.ts';

/** Where a stream is that is written. */
export interface StreamTarget {
  /** A run by id or handle, or `parent` or `root`: that of the calling one. Default: the calling run. */
  target?: RunReference;
}

export interface ReadStreamOptions {
  /** The number of the last chunk that is known; what comes after it is read. Default: everything from the beginning. */
  lastEventId?: number;
  /** How long to wait for more before the reading ends, in seconds, 1 to 600. Default 60. */
  timeoutInSeconds?: number;
  /** Ends the reading. */
  signal?: AbortSignal;
}

function queueOf(stream: string, { target = 'self' }: StreamTarget): OutQueue {
  const client = currentClient();
  const isRelative = target === 'self' || target === 'parent' || target === 'root';
  const own = currentRun()?.run;
  if (isRelative && own === undefined) {
    throw new Error('Outside of a task, name the run whose stream it is: { target: handle }.');
  }
  const params = {
    runId: isRelative ? (own as string) : runId(target),
    target: isRelative ? target : 'self',
    stream,
  };
  return new OutQueue(async (records, partId) => {
    const body = { records: records.map((record) => ({ body: record.body })) };
    const headers = { 'x-part-id': partId };
    return (await client.call('writeRunStream', { params, headers, body })).start;
  });
}

/**
 * Appends one chunk, JSON, to a stream of the run. Resolves with its number when it is durable.
 *
 * @example
 * await streams.append('progress', { percent: 40 });
 */
async function append(stream: string, chunk: unknown, options: StreamTarget = {}): Promise<number> {
  return queueOf(stream, options).add(dataRecord(chunk));
}

/**
 * Appends everything that a source gives to a stream of the run; resolves with how many chunks that were when all of them are durable.
 *
 * @example
 * await streams.pipe('answer', result.textStream);
 */
async function pipe(
  stream: string,
  source: AsyncIterable<unknown> | Iterable<unknown> | ReadableStream<unknown>,
  options: StreamTarget = {},
): Promise<number> {
  const out = writer(stream, options);
  let count = 0;
  let last: Promise<unknown> = Promise.resolve();
  for await (const chunk of chunksOf(source)) {
    last = out.write(chunk);
    count += 1;
    // A source that never pauses waits for what it gave.
    if (count % 1_000 === 0) await last;
  }
  await out.close();
  return count;
}

/** Writes chunks one after the other to a stream of the run. */
function writer<T = unknown>(stream: string, options: StreamTarget = {}): Writer<T> {
  const queue = queueOf(stream, options);
  let last: Promise<unknown> = Promise.resolve();
  return {
    write(chunk) {
      const written = queue.add(dataRecord(chunk));
      last = written;
      // Whoever does not await it hears of it at the close.
      written.catch(() => {});
      return written;
    },
    async close() {
      await last;
    },
  };
}

/**
 * The chunks of a stream of a run, each once and in order, from the beginning; whatever becomes of the connections. Ends when there was
 * no news for the time to wait. In a browser, with a public token that reads the run.
 *
 * @example
 * for await (const part of streams.read<string>(handle, 'answer')) show(part);
 */
async function* read<T = unknown>(
  run: RunReference,
  stream: string,
  options: ReadStreamOptions = {},
): AsyncGenerator<T, void, undefined> {
  const client = currentClient();
  const path = pathOf('followRunStream', { runId: runId(run), stream });
  for await (const record of followRecords(client, path, options)) {
    if (!isCommand(record)) yield dataOf(record) as T;
  }
}

/** Streams of runs: what a run tells while it runs, in parts, durable and in order. */
export const streams = { append, pipe, writer, read };
