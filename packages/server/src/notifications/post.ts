import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { AddressRefused, type Networks } from './networks.ts';

/** Resolves all addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const lookUpAll = promisify(systemLookup);
export const resolveName: Resolve = (hostname) => lookUpAll(hostname, { all: true });

/** The IP address in a URL, if it has one instead of a name. */
export const literalOf = ({ hostname }: URL): string | undefined => {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : bare;
};

/** The same message for an unknown name and a private address, so that it does not reveal which one applies. */
const nowhere = () => new AddressRefused('the name does not resolve to an allowed address');

/** Resolves the addresses of a URL. Throws `AddressRefused` if any of them is forbidden. */
export async function checkedAddresses(
  url: URL,
  networks: Networks,
  resolve: Resolve,
): Promise<readonly LookupAddress[]> {
  const literal = literalOf(url);
  if (literal !== undefined) {
    networks.check(url.protocol, literal);
    return [{ address: literal, family: isIP(literal) }];
  }
  const addresses = await resolve(url.hostname).catch(() => {
    throw nowhere();
  });
  for (const { address } of addresses) {
    try {
      networks.check('https:', address);
    } catch (error) {
      throw error instanceof AddressRefused ? nowhere() : error;
    }
  }
  if (addresses.length === 0) throw nowhere();
  for (const { address } of addresses) networks.check(url.protocol, address);
  return addresses;
}

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly networks: Networks;
  readonly resolve: Resolve;
  readonly signal: AbortSignal;
}

const maxRead = 65_536;

/** Rejects on abort without waiting for the lookup, which cannot be canceled. */
export const unless = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });

/**
 * Sends one POST without following redirects and returns the status. The name is resolved once and the connection uses a checked
 * address, which prevents DNS rebinding.
 */
export async function post({ url, headers, body, networks, resolve, signal }: Post): Promise<number> {
  const addresses = await unless(signal, checkedAddresses(url, networks, resolve));
  const [first] = addresses as [LookupAddress];
  const lookup: LookupFunction = (_hostname, options, done) => {
    if (options.all) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
  const request = url.protocol === 'https:' ? requestByHttps : requestByHttp;
  return new Promise((answer, fail) => {
    const outgoing = request(url, { method: 'POST', headers, lookup, agent: false, signal }, (incoming) => {
      // Reads the body up to a limit and ignores it. The status counts even if the body is cut off.
      outgoing.off('error', fail).on('error', () => {});
      let read = 0;
      incoming.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read > maxRead) incoming.destroy();
      });
      incoming.on('error', () => {});
      incoming.on('close', () => answer(incoming.statusCode ?? 0));
    });
    outgoing.on('error', fail);
    // For a response that switches protocols, Node emits only this event.
    outgoing.on('upgrade', (incoming, socket) => {
      socket.destroy();
      answer(incoming.statusCode ?? 0);
    });
    outgoing.end(body);
  });
}
