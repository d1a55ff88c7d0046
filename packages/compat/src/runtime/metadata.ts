import type { RunScope } from '@millrace/sdk/executor';
import { asJson } from './as-json.ts';
import { currentAttempt } from './attempt.ts';
import { readStream } from './read-stream.ts';
import type { StreamsApi } from './streams.ts';

type RunMetadata = ReturnType<NonNullable<RunScope['metadata']>>;
type Target = Parameters<RunMetadata['change']>[0];
type Operation = Parameters<RunMetadata['change']>[1];

/**
 * The metadata of a run, its parent or root, with every method of the published SDK that changes it. Outside of a task the methods have no
 * effect, as in the published SDK.
 */
function changesOf(target: Target, whose: 'self' | 'parent' | 'root', streams: StreamsApi) {
  const change = (operation: Operation): void =>
    currentAttempt()?.scope.metadata?.().change(target, operation);
  const changes = {
    set(key: string, value: unknown) {
      const json = asJson(value);
      change(json === undefined ? { type: 'delete', key } : { type: 'set', key, value: json });
      return changes;
    },
    del(key: string) {
      change({ type: 'delete', key });
      return changes;
    },
    append(key: string, value: unknown) {
      change({ type: 'append', key, value: asJson(value) });
      return changes;
    },
    remove(key: string, value: unknown) {
      change({ type: 'remove', key, value: asJson(value) });
      return changes;
    },
    increment(key: string, value = 1) {
      change({ type: 'increment', key, value });
      return changes;
    },
    decrement(key: string, value = 1) {
      change({ type: 'increment', key, value: -Math.abs(value) });
      return changes;
    },
    update(value: unknown) {
      change({ type: 'update', value: asJson(value) as Record<string, unknown> });
      return changes;
    },
    stream: async (key: string, source: AsyncIterable<unknown>, signal?: AbortSignal) =>
      streams.pipe(key, source, { signal, target: whose }).stream,
  };
  return changes;
}

/** Their `run-metadata` API, on the metadata of the current attempt. */
export function metadataApi(streams: StreamsApi): object {
  const parent = changesOf('parentOperations', 'parent', streams);
  const root = changesOf('rootOperations', 'root', streams);
  return {
    ...changesOf('operations', 'self', streams),
    parent,
    root,
    enterWithMetadata() {},
    current: () => currentAttempt()?.scope.metadata?.().current(),
    getKey: (key: string) => currentAttempt()?.scope.metadata?.().current()[key],
    flush: async () => currentAttempt()?.scope.metadata?.().flush(),
    refresh: async () => currentAttempt()?.scope.metadata?.().flush(),
    fetchStream: async (key: string, signal?: AbortSignal) => readStream(key, signal),
  };
}
