import type { MetadataOperation } from '@millrace/contract';
import type { Metadata } from '@millrace/contract/metadata';
import { currentClient } from '../client/current-client.ts';
import { currentRun, type MetadataTarget } from '../run-scope.ts';
import { ownRunId, type OfRun } from '../runs/own-run.ts';
import { codecOf, sealing } from '../sealing/codec.ts';
import { openMetadata } from '../sealing/values.ts';
import { operationAsJson } from './operation-as-json.ts';
import { sealOperation } from './seal-operation.ts';

export type { Metadata };

/** For the current run, changes are buffered and sent together; for another run, or outside of runs, they are sent immediately. */
function change(target: MetadataTarget, operation: MetadataOperation, options: OfRun): unknown {
  if (operation.type === 'remove') refuseSealedRemoval(operation.value);
  const own = options.run === undefined ? currentRun()?.metadata?.() : undefined;
  if (own) {
    own.change(target, operation);
    return undefined;
  }
  return request(target, operation, options);
}

async function request(
  target: MetadataTarget,
  operation: MetadataOperation,
  options: OfRun,
): Promise<Metadata> {
  const client = currentClient();
  const params = { runId: ownRunId(options) };
  const codec = codecOf(client);
  const body = { [target]: [await sealOperation(codec, operationAsJson(operation))] };
  return openMetadata(codec, (await client.call('updateRunMetadata', { params, body })).metadata);
}

/** Sealing the same text twice gives two different texts, so the server could not find it. */
function refuseSealedRemoval(value: unknown): void {
  if (!sealing(codecOf(currentClient()), 'metadata') || !/"/.test(JSON.stringify(value) ?? '')) return;
  throw new TypeError(
    'metadata.remove cannot find values in sealed metadata: set the list without them (metadata.set), or exclude metadata from the codec (clear: ["metadata"]).',
  );
}

/** Another run. */
type Named = Required<OfRun>;

/** Changes to the metadata of a run, its parent or its root. A key is a name, or a path such as `$.a.b[0]`. */
export interface MetadataChanging {
  /** `undefined` deletes the key. @example metadata.set('progress', 0.5); */
  set(key: string, value: unknown): void;
  set(key: string, value: unknown, options: Named): Promise<Metadata>;
  /** Appends to a list, which is created if necessary. @example metadata.append('seen', file.name); */
  append(key: string, value: unknown): void;
  append(key: string, value: unknown, options: Named): Promise<Metadata>;
  /** Removes every item that equals the value from a list. */
  remove(key: string, value: unknown): void;
  remove(key: string, value: unknown, options: Named): Promise<Metadata>;
  /** @example metadata.parent.increment('done'); */
  increment(key: string, by?: number): void;
  increment(key: string, by: number, options: Named): Promise<Metadata>;
  decrement(key: string, by?: number): void;
  decrement(key: string, by: number, options: Named): Promise<Metadata>;
  del(key: string): void;
  del(key: string, options: Named): Promise<Metadata>;
  /** Replaces all metadata. */
  replace(value: Metadata): void;
  replace(value: Metadata, options: Named): Promise<Metadata>;
}

const changesOf = (target: MetadataTarget): MetadataChanging =>
  ({
    set: (key: string, value: unknown, options: OfRun = {}) =>
      change(target, { type: 'set', key, value }, options),
    append: (key: string, value: unknown, options: OfRun = {}) =>
      change(target, { type: 'append', key, value }, options),
    remove: (key: string, value: unknown, options: OfRun = {}) =>
      change(target, { type: 'remove', key, value }, options),
    increment: (key: string, by = 1, options: OfRun = {}) =>
      change(target, { type: 'increment', key, value: by }, options),
    decrement: (key: string, by = 1, options: OfRun = {}) =>
      change(target, { type: 'increment', key, value: -by }, options),
    del: (key: string, options: OfRun = {}) => change(target, { type: 'delete', key }, options),
    replace: (value: Metadata, options: OfRun = {}) => change(target, { type: 'update', value }, options),
    // The overloads declare the return types.
  }) as MetadataChanging;

/**
 * All metadata: of the current run, including every change of this attempt; or of another run, from the server. Throws a NotFoundError for an
 * unknown run.
 *
 * @example
 * const { progress } = metadata.current();
 * const other = await metadata.current({ run: handle });
 */
function current(): Metadata;
function current(options: Named): Promise<Metadata>;
function current(options: OfRun = {}): Metadata | Promise<Metadata> {
  const own = options.run === undefined ? currentRun()?.metadata?.() : undefined;
  if (own) return own.current();
  const params = { runId: ownRunId(options) };
  const client = currentClient();
  return client
    .call('retrieveRunMetadata', { params })
    .then((reply) => openMetadata(codecOf(client), reply.metadata));
}

/** Resolves when the server has received every change that the run has made so far. Does nothing outside of runs. */
const flush = async (): Promise<void> => currentRun()?.metadata?.().flush();

/**
 * Metadata of a run: at most 256 KiB of plain JSON.
 *
 * In a run's own code, changes are visible immediately and are sent to the server together, once a second and at the end of the attempt. Unsent
 * changes are lost if the process is killed. With `{ run }` they change another run: each change is a request that returns the run's metadata,
 * and fails with an UnprocessableEntityError if that run has ended. Concurrent increments of a shared parent by several runs all count.
 *
 * @example
 * metadata.set('progress', 0.5);
 * metadata.parent.increment('done');
 */
export const metadata = {
  current,
  flush,
  ...changesOf('operations'),
  parent: changesOf('parentOperations'),
  root: changesOf('rootOperations'),
};
