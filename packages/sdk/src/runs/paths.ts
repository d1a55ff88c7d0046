import type { DeclaredPath as WirePath } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';

/** A metadata or payload path by which runs can be listed, and how much of the older runs is indexed. */
export interface DeclaredPath extends Omit<WirePath, 'createdAt'> {
  readonly createdAt: Date;
}

const fromWire = (wire: WirePath): DeclaredPath => ({ ...wire, createdAt: new Date(wire.createdAt) });

/**
 * Indexes the runs of the environment by a metadata or payload path, so that `runs.list` can filter by it. Existing runs are indexed in the
 * background, newest first. Declaring a path again has no effect. Throws a BadRequestError for an invalid path, and an UnprocessableEntityError
 * beyond 20 paths.
 *
 * @example
 * await runs.declarePath('metadata.customer.id');
 * for await (const run of runs.list({ metadata: { 'customer.id': 42 } })) console.log(run.id);
 */
export const declarePath = async (path: string): Promise<DeclaredPath> =>
  fromWire(await currentClient().call('declareRunPath', { body: { path } }));

/**
 * The declared paths of the environment.
 *
 * @example
 * const pending = (await runs.listPaths()).filter(({ state }) => state === 'BACKFILLING');
 */
export const listPaths = async (): Promise<DeclaredPath[]> =>
  (await currentClient().call('listRunPaths')).data.map(fromWire);

/**
 * Stops indexing runs by a path. Throws a NotFoundError if it is not declared.
 *
 * @example
 * await runs.removePath('metadata.customer.id');
 */
export const removePath = (path: string): Promise<{ path: string }> =>
  currentClient().call('removeRunPath', { params: { path } });
