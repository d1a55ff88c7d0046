import type { DeclaredPath as WirePath } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';

/** A path of metadata or payloads by which runs can be listed, and how much of the older runs is indexed. */
export interface DeclaredPath extends Omit<WirePath, 'createdAt'> {
  readonly createdAt: Date;
}

const fromWire = (wire: WirePath): DeclaredPath => ({ ...wire, createdAt: new Date(wire.createdAt) });

/**
 * Has the runs of the environment indexed by a path of their metadata or payload, so that `runs.list` can filter by it. Runs that exist are
 * indexed in the background, the newest first. Declaring a path again does nothing. Throws a BadRequestError for what is no path, an
 * UnprocessableEntityError beyond 20 paths.
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
