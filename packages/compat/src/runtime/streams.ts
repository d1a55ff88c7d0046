import { streams } from '@millrace/sdk';
import { asJson } from './as-json.ts';
import { requireAttempt, type Attempt } from './attempt.ts';

export interface PipeOptions {
  readonly signal?: AbortSignal | undefined;
  /** `self`, `parent`, `root`, or a run. */
  readonly target?: string | undefined;
}

export interface StreamsApi {
  pipe(
    key: string,
    source: AsyncIterable<unknown> | ReadableStream<unknown>,
    options?: PipeOptions,
  ): { readonly wait: () => Promise<unknown>; readonly stream: ReadableStream<unknown> };
  append(key: string, part: unknown, options?: PipeOptions): Promise<void>;
}

/** The `realtime-streams` API (4.1 and later), based on our streams of runs. */
export const streamsApi: StreamsApi = {
  pipe(key, source, { signal, target } = {}) {
    const attempt = requireAttempt('streams.pipe');
    const readable = source instanceof ReadableStream ? source : ReadableStream.from(source);
    const [forServer, forCaller] = readable.tee();
    const written = streams.pipe(key, until(forServer, signal), { target: targetOf(attempt, target) });
    holdOpen(attempt, written);
    return { wait: () => written, stream: forCaller };
  },
  async append(key, part, { target } = {}) {
    await streams.append(key, asJson(part), { target: targetOf(requireAttempt('streams.append'), target) });
  },
};

/** A run without a parent or root writes its own stream. */
function targetOf({ ctx: { run } }: Attempt, target = 'self'): string {
  if (target === 'parent') return run.parentTaskRunId === undefined ? 'self' : 'parent';
  if (target === 'root') return run.rootTaskRunId === undefined ? 'self' : 'root';
  return target === run.id ? 'self' : target;
}

async function* until(source: ReadableStream<unknown>, signal?: AbortSignal): AsyncGenerator {
  for await (const chunk of source) {
    if (signal?.aborted) return;
    yield asJson(chunk);
  }
}

/** The attempt does not end before the stream has been written. */
function holdOpen(attempt: Attempt, written: Promise<unknown>): void {
  let isOpen = true;
  const deferred = { requiresResolving: () => isOpen, promise: written };
  attempt.deferred.add(deferred);
  const end = (): void => {
    isOpen = false;
    attempt.deferred.delete(deferred);
  };
  written.then(end, end);
}
