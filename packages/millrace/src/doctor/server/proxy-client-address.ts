import type { ServerCheck } from './facts.ts';

export const proxyClientAddress: ServerCheck = {
  name: 'proxy-client-address',
  looksAt: 'the server trusts the proxy that names the client (`X-Forwarded-For`)',
  severity: 'warning',
  why: 'All clients have the address of the proxy: one that sends wrong credentials uses up the limit of all, and the audit log names none.',
  mend: 'Set `MILLRACE_TRUSTED_PROXIES` to the addresses of the proxies, and let these replace the header that clients send.',
  async find({ told }) {
    const { address, isForwarded, isTrusted } = (await told()).diagnosis.request;
    return isForwarded && !isTrusted
      ? [
          {
            what: `A proxy at ${address} names the client, and the server does not trust it.`,
            mend: `\`MILLRACE_TRUSTED_PROXIES=${address}\` for all servers, or the network of the proxies.`,
          },
        ]
      : [];
  },
};
