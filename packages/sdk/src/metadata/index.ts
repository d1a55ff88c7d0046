import type { MetadataOperation } from '@millrace/contract';
import type { Metadata } from '@millrace/contract/metadata';
import { currentClient } from '../client/current-client.ts';
import { currentRun, type MetadataTarget } from '../run-scope.ts';
import { ownRunId, type OfRun } from '../runs/own-run.ts';
import { operationAsJson } from './operation-as-json.ts';

export type { Metadata };

/** Of the run that executes, told with others a little later; of another run, or outside of runs, at once. */
function change(target: MetadataTarget, operation: MetadataOperation, options: OfRun): unknown {
  const own = options.run === undefined ? currentRun()?.metadata : undefined;
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
  const params = { runId: ownRunId(options) };
  const body = { [target]: [operationAsJson(operation)] };
  return (await currentClient().call('updateRunMetadata', { params, body })).metadata;
}

/** Another run, named. */
type Named = Required<OfRun>;

/** The changes, for the metadata of a run, of its parent or of its root. A key is a name, or `$.a.b[0]` for a place inside. */
export interface MetadataChanging {
  /** `undefined` takes the key away. @example metadata.set('progress', 0.5); */
  set(key: string, value: unknown): void;
  set(key: string, value: unknown, options: Named): Promise<Metadata>;
  /** Adds to a list, made if it is not there. @example metadata.append('seen', file.name); */
  append(key: string, value: unknown): void;
  append(key: string, value: unknown, options: Named): Promise<Metadata>;
  /** Takes every item that equals the value out of a list. */
  remove(key: string, value: unknown): void;
  remove(key: string, value: unknown, options: Named): Promise<Metadata>;
  /** @example metadata.parent.increment('done'); */
  increment(key: string, by?: number): void;
  increment(key: string, by: number, options: Named): Promise<Metadata>;
  decrement(key: string, by?: number): void;
  decrement(key: string, by: number, options: Named): Promise<Metadata>;
  del(key: string): void;
  del(key: string, options: Named): Promise<Metadata>;
  /** Replaces all of it. */
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
    // What is given back follows from whether a run is named, as the overloads say.
  }) as MetadataChanging;

/**
 * All metadata: of the run that executes, as it is here, with every change of this attempt; or of another run, as the server has it.
 * Throws a NotFoundError for an unknown run.
 *
 * @example
 * const { progress } = metadata.current();
 * const other = await metadata.current({ run: handle });
 */
function current(): Metadata;
function current(options: Named): Promise<Metadata>;
function current(options: OfRun = {}): Metadata | Promise<Metadata> {
  const own = options.run === undefined ? currentRun()?.metadata : undefined;
  if (own) return own.current();
  const params = { runId: ownRunId(options) };
  return currentClient()
    .call('retrieveRunMetadata', { params })
    .then((reply) => reply.metadata);
}

/** Resolves when the server has every change that the run has made so far. Nothing to do outside of runs. */
const flush = async (): Promise<void> => currentRun()?.metadata?.flush();

/**
 * What a run tells about itself while it runs: at most 256 KiB of plain JSON.
 *
 * In a run's own code changes hold at once and cost nothing: they are told to the server together, once a second and at the end of the
 * attempt, however it ends. What an attempt has not told when its process is killed is lost. With `{ run }` they are about another
 * run, and each is a request that gives its metadata: of one that is over they are refused with an UnprocessableEntityError. Increments of several runs in one parent all count.
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
