import { currentClient } from '../client/current-client.ts';
import { currentRun } from '../run-scope.ts';
import { runId, type RunReference } from '../runs/run.ts';
import { chunksOf, type Writer } from '../sessions/out.ts';
import { dataRecord, OutQueue } from '../sessions/writer.ts';
import { readStreamThrough } from './read.ts';

/** The run of a stream. */
export interface StreamTarget {
  /** A run by id or handle, or `parent` or `root` of the calling run. Default: the calling run. */
  target?: RunReference;
}

export interface ReadStreamOptions {
  /** The sequence number of the last known chunk; reading starts after it. Default: everything from the beginning. */
  lastEventId?: number;
  /** Seconds to wait for more chunks before reading ends, 1 to 600. Default 60. */
  timeoutInSeconds?: number;
  /** Stops reading. */
  signal?: AbortSignal;
}

function queueOf(stream: string, { target = 'self' }: StreamTarget): OutQueue {
  const client = currentClient();
  const isRelative = target === 'self' || target === 'parent' || target === 'root';
  const own = currentRun()?.run;
  if (isRelative && own === undefined) {
    throw new Error('Outside a task, specify the run of the stream: { target: handle }.');
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
 * Appends one chunk of JSON to a stream of the run. Resolves with its number when it is durable.
 *
 * @example
 * await streams.append('progress', { percent: 40 });
 */
async function append(stream: string, chunk: unknown, options: StreamTarget = {}): Promise<number> {
  return queueOf(stream, options).add(dataRecord(chunk));
}

/**
 * Appends all items of a source to a stream of the run. Resolves with the number of chunks when all of them are durable.
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
    // A source that never pauses must wait for its items to be written.
    if (count % 1_000 === 0) await last;
  }
  await out.close();
  return count;
}

/** Writes chunks in sequence to a stream of the run. */
function writer<T = unknown>(stream: string, options: StreamTarget = {}): Writer<T> {
  const queue = queueOf(stream, options);
  let last: Promise<unknown> = Promise.resolve();
  return {
    write(chunk) {
      const written = queue.add(dataRecord(chunk));
      last = written;
      // A caller that does not await it receives the error at close.
      written.catch(() => {});
      return written;
    },
    async close() {
      await last;
    },
  };
}

/**
 * The chunks of a stream of a run from the beginning, each once and in order, across reconnections. Ends when no chunks arrived within the time
 * limit. In a browser, use a public token that can read the run.
 *
 * @example
 * for await (const part of streams.read<string>(handle, 'answer')) show(part);
 */
async function* read<T = unknown>(
  run: RunReference,
  stream: string,
  options: ReadStreamOptions = {},
): AsyncGenerator<T, void, undefined> {
  for await (const { chunk } of readStreamThrough(currentClient(), runId(run), stream, options))
    yield chunk as T;
}

/** Streams of runs: durable, ordered output while a run executes. */
export const streams = { append, pipe, writer, read };
