/** `git@github.com:acme/shop.git`, the short form of an SSH address. A host without a dot is an alias of this machine. */
const scpAddress = /^(?:[^@/\s]+@)?([^:/@\s]+\.[^:/@\s]+):(?!\/)(.+)$/;

/**
 * The web address of a repository, from the address of its remote: without credentials, port and `.git`. Undefined for a folder and for any
 * other address without a host.
 *
 * @example webAddressOfRemote('git@github.com:acme/shop.git') // 'https://github.com/acme/shop'
 */
export function webAddressOfRemote(remote: string): string | undefined {
  const [, host, path] = scpAddress.exec(remote.trim()) ?? [];
  const address = remote.includes('://') || host === undefined ? remote.trim() : `ssh://${host}/${path}`;
  if (!/^(?:https?|ssh|git):\/\//.test(address) || !URL.canParse(address)) return undefined;
  // Only addresses of the scheme http have a normalized host.
  const { hostname, pathname } = new URL(address.replace(/^[a-z]+:/, 'http:'));
  const repository = pathname.replace(/\/+$/, '').replace(/\.git$/, '');
  return hostname === '' || repository === '' ? undefined : `https://${hostname}${repository}`;
}
