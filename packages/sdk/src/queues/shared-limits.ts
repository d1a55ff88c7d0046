import type { ShownSharedLimit } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';

/** A limit of concurrency that queues share. */
export type SharedLimit = Omit<ShownSharedLimit, 'overriddenAt'> & { overriddenAt: Date | null };

const fromWire = ({ overriddenAt, ...limit }: ShownSharedLimit): SharedLimit => ({
  ...limit,
  overriddenAt: overriddenAt === null ? null : new Date(overriddenAt),
});

/**
 * The limits of concurrency that queues of the environment share, by name, and how many runs execute under each.
 *
 * @example
 * for (const { name, running, limit } of await queues.sharedLimits()) console.log(name, `${running} of ${limit}`);
 */
export async function sharedLimits(): Promise<SharedLimit[]> {
  const { data } = await currentClient().call('listSharedLimits', {});
  return data.map(fromWire);
}

/**
 * Sets a shared limit, whatever the code declares: 0 to 100,000. It applies to all versions until it is reset. Runs that execute already go on.
 * Throws a NotFoundError for an unknown one.
 *
 * @example
 * await queues.overrideSharedLimit('provider', 5);
 */
export async function overrideSharedLimit(name: string, limit: number): Promise<SharedLimit> {
  return fromWire(await currentClient().call('overrideSharedLimit', { params: { name }, body: { limit } }));
}

/**
 * Returns to the shared limit that the code declares. Throws a NotFoundError for an unknown one.
 *
 * @example
 * await queues.resetSharedLimit('provider');
 */
export async function resetSharedLimit(name: string): Promise<SharedLimit> {
  return fromWire(await currentClient().call('resetSharedLimit', { params: { name } }));
}
