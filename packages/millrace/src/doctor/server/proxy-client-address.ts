import type { ServerCheck } from './input.ts';

export const proxyClientAddress: ServerCheck = {
  name: 'proxy-client-address',
  condition: "the server trusts the proxy that sends the client's address (`X-Forwarded-For`)",
  severity: 'warning',
  why: 'All clients appear with the address of the proxy. One client with wrong credentials uses up the limit for all, and the audit log does not contain client addresses.',
  fix: 'Set `MILLRACE_TRUSTED_PROXIES` to the addresses of the proxies, and configure the proxies to replace the header if a client sends it.',
  async find({ requireDiagnosis }) {
    const { address, isForwarded, isTrusted } = (await requireDiagnosis()).diagnosis.request;
    return isForwarded && !isTrusted
      ? [
          {
            what: `A proxy at ${address} forwards client addresses, but the server does not trust it.`,
            fix: `\`MILLRACE_TRUSTED_PROXIES=${address}\` for all servers, or the network of the proxies.`,
          },
        ]
      : [];
  },
};
