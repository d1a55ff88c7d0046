import { unprocessable } from '../problem.ts';
import { AddressRefused, onlyHttps, type Networks } from './networks.ts';
import { literalOf, type Resolve } from './post.ts';

/** How to reach receivers, and which of them may be reached. */
export interface Reach {
  readonly networks: Networks;
  readonly resolve: Resolve;
}

/**
 * 422 for a URL that is never sent to, as far as it says so itself. A name is looked up when there is something to send: what the
 * server's own network makes of it, even whether it is known there, is nothing to tell whoever sets up an endpoint.
 */
export function refuseForbidden(text: string, { networks }: Reach): void {
  const url = new URL(text);
  const address = literalOf(url);
  try {
    if (address !== undefined) networks.check(url.protocol, address);
    else if (/(?:^|\.)localhost\.?$/.test(url.hostname)) checkThisMachine(url.protocol, networks);
    else if (url.protocol !== 'https:' && !networks.areWidened) throw onlyHttps();
  } catch (error) {
    throw error instanceof AddressRefused ? unprocessable(`url: ${error.message}.`) : error;
  }
}

/** That name is the same everywhere. One of its addresses is enough here: which of them it has is seen later. */
function checkThisMachine(protocol: string, networks: Networks): void {
  try {
    networks.check(protocol, '::1');
  } catch {
    networks.check(protocol, '127.0.0.1');
  }
}
