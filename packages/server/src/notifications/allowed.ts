import { unprocessable } from '../problem.ts';
import { AddressRefused, type Networks } from './networks.ts';
import { checkedAddresses, type Resolve } from './post.ts';

/** How to reach receivers, and which of them may be reached. */
export interface Reach {
  readonly networks: Networks;
  readonly resolve: Resolve;
}

/** 422 for a URL that could not be sent to now. A name that does not resolve yet may do so later: each request looks again. */
export async function refuseForbidden(url: string, { networks, resolve }: Reach): Promise<void> {
  try {
    await checkedAddresses(new URL(url), networks, resolve);
  } catch (error) {
    if (error instanceof AddressRefused) throw unprocessable(`url: ${error.message}.`);
  }
}
