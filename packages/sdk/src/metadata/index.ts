import type { MetadataOperation } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { ownRunId, type OfRun } from '../runs/own-run.ts';

/** What a run tells about itself while it runs: plain JSON, at most 256 KiB. */
export type Metadata = Record<string, unknown>;

type Target = 'operations' | 'parentOperations' | 'rootOperations';

async function change(target: Target, operation: MetadataOperation, options: OfRun): Promise<Metadata> {
  const params = { runId: ownRunId(options) };
  const body = { [target]: [operation] };
  return (await currentClient().call('updateRunMetadata', { params, body })).metadata;
}

/**
 * The changes, for the metadata of a run, of its parent or of its root. Each is one request and gives the metadata of the run
 * that was named, as it is then. A key is a name, or `$.a.b[0]` for a place inside.
 */
const changesOf = (target: Target) => ({
  /** @example await metadata.set('progress', 0.5); */
  set: (key: string, value: unknown, options: OfRun = {}) =>
    change(target, { type: 'set', key, value }, options),
  /** Adds to a list, made if it is not there. @example await metadata.append('seen', file.name); */
  append: (key: string, value: unknown, options: OfRun = {}) =>
    change(target, { type: 'append', key, value }, options),
  /** Takes every item that equals the value out of a list. */
  remove: (key: string, value: unknown, options: OfRun = {}) =>
    change(target, { type: 'remove', key, value }, options),
  /** @example await metadata.parent.increment('done'); */
  increment: (key: string, by = 1, options: OfRun = {}) =>
    change(target, { type: 'increment', key, value: by }, options),
  decrement: (key: string, by = 1, options: OfRun = {}) =>
    change(target, { type: 'increment', key, value: -by }, options),
  del: (key: string, options: OfRun = {}) => change(target, { type: 'delete', key }, options),
  /** Replaces all of it. */
  replace: (value: Metadata, options: OfRun = {}) => change(target, { type: 'update', value }, options),
});

/**
 * All metadata of the run that calls, or of another. Throws a NotFoundError for an unknown run.
 *
 * @example
 * const { progress } = await metadata.current({ run: handle });
 */
async function current(options: OfRun = {}): Promise<Metadata> {
  const params = { runId: ownRunId(options) };
  return (await currentClient().call('retrieveRunMetadata', { params })).metadata;
}

/**
 * What a run tells about itself while it runs. Await each change: those of a run that is over are refused with an
 * UnprocessableEntityError. Increments of several runs in one parent all count.
 *
 * @example
 * await metadata.set('progress', 0.5);
 * await metadata.parent.increment('done');
 */
export const metadata = {
  current,
  ...changesOf('operations'),
  parent: changesOf('parentOperations'),
  root: changesOf('rootOperations'),
};
