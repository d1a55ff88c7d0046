import type { SharedLimitResponse } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';

/** A concurrency limit shared by several queues. */
export type SharedLimit = Omit<SharedLimitResponse, 'overriddenAt'> & { overriddenAt: Date | null };

const fromWire = ({ overriddenAt, ...limit }: SharedLimitResponse): SharedLimit => ({
  ...limit,
  overriddenAt: overriddenAt === null ? null : new Date(overriddenAt),
});

/**
 * The concurrency limits that queues of the environment share, by name, with the number of executing runs under each.
 *
 * @example
 * for (const { name, running, limit } of await queues.sharedLimits()) console.log(name, `${running} of ${limit}`);
 */
export async function sharedLimits(): Promise<SharedLimit[]> {
  const { data } = await currentClient().call('listSharedLimits', {});
  return data.map(fromWire);
}

/**
 * Overrides a shared limit, regardless of the limit in code: 0 to 100,000. It applies to all versions until it is reset. Executing runs
 * continue. Throws a NotFoundError for an unknown limit.
 *
 * @example
 * await queues.overrideSharedLimit('provider', 5);
 */
export async function overrideSharedLimit(name: string, limit: number): Promise<SharedLimit> {
  return fromWire(await currentClient().call('overrideSharedLimit', { params: { name }, body: { limit } }));
}

/**
 * Restores the shared limit declared in code. Throws a NotFoundError for an unknown limit.
 *
 * @example
 * await queues.resetSharedLimit('provider');
 */
export async function resetSharedLimit(name: string): Promise<SharedLimit> {
  return fromWire(await currentClient().call('resetSharedLimit', { params: { name } }));
}
