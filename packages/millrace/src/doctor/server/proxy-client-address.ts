import type { ServerCheck } from './input.ts';

export const proxyClientAddress: ServerCheck = {
  name: 'proxy-client-address',
  looksAt: 'the server trusts the proxy that names the client (`X-Forwarded-For`)',
  severity: 'warning',
  why: 'All clients have the address of the proxy: one that sends wrong credentials uses up the limit of all, and the audit log names none.',
  fix: 'Set `MILLRACE_TRUSTED_PROXIES` to the addresses of the proxies, and let these replace the header that clients send.',
  async find({ requireDiagnosis }) {
    const { address, isForwarded, isTrusted } = (await requireDiagnosis()).diagnosis.request;
    return isForwarded && !isTrusted
      ? [
          {
            what: `A proxy at ${address} names the client, and the server does not trust it.`,
            fix: `\`MILLRACE_TRUSTED_PROXIES=${address}\` for all servers, or the network of the proxies.`,
          },
        ]
      : [];
  },
};
