import type { TaskManifest } from '@millrace/contract/runner';
import type { Transaction } from '../../db/connect.ts';
import { newId } from '../../db/ids.ts';

/**
 * Gives each webhook of a version an address, in the transaction that makes the version current. An address is never changed or removed: other
 * services store it.
 */
export async function declareWebhooks(
  tx: Transaction,
  env: number,
  tasks: readonly TaskManifest[],
): Promise<void> {
  const ids = tasks.flatMap((task) => (task.webhook ? [task.id] : []));
  if (ids.length === 0) return;
  await tx`
    insert into webhooks (env, id, address)
    select ${env}, i.id, i.address
      from unnest(${ids}::text[], ${ids.map(() => newAddress())}::text[]) as i (id, address) order by i.id
    on conflict do nothing`;
}

/** For a webhook that is not verified, its address is the only protection: 103 random bits. */
const newAddress = (): string => newId('wh');

export const isAddress = (text: string): boolean => /^wh_[a-z0-9]{20}$/.test(text);
