import { unprocessable } from '../problem.ts';
import { AddressRefused, onlyHttps, type Networks } from './networks.ts';
import { literalOf, type Resolve } from './post.ts';

/** How to connect to receivers, and to which addresses. */
export interface Egress {
  readonly networks: Networks;
  readonly resolve: Resolve;
}

/**
 * 422 for a URL that is forbidden judging by its text alone. Names are resolved only on delivery, because the response must not reveal
 * whether a name exists in the server's network or how it resolves.
 */
export function checkUrl(text: string, { networks }: Egress, field = 'url'): void {
  const url = new URL(text);
  const address = literalOf(url);
  try {
    if (address !== undefined) networks.check(url.protocol, address);
    else if (/(?:^|\.)localhost\.?$/.test(url.hostname)) checkThisMachine(url.protocol, networks);
    else if (url.protocol !== 'https:' && !networks.areWidened) throw onlyHttps();
  } catch (error) {
    throw error instanceof AddressRefused ? unprocessable(`${field}: ${error.message}.`) : error;
  }
}

/** `localhost` is allowed if one of its two addresses is. The actual address is checked on delivery. */
function checkThisMachine(protocol: string, networks: Networks): void {
  try {
    networks.check(protocol, '::1');
  } catch {
    networks.check(protocol, '127.0.0.1');
  }
}
