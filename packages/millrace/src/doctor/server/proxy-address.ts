import type { ServerCheck } from './input.ts';

export const proxyAddress: ServerCheck = {
  name: 'proxy-address',
  looksAt: 'the server knows the address that clients use',
  severity: 'error',
  why: 'The server puts addresses into its replies: of large payloads, of callbacks, of links for browsers. Clients cannot use these.',
  fix: 'The proxy must send `Host` (or `X-Forwarded-Host`) and `X-Forwarded-Proto`. nginx: `proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;`. Below a path, set `MILLRACE_BASE_PATH`.',
  async find({ url, requireDiagnosis }) {
    const { diagnosis } = await requireDiagnosis();
    const [used, understood] = [url, diagnosis.request.url].map((address) => new URL(`${address}/`).href);
    return used === understood
      ? []
      : [{ what: `The server was called at ${used} and understands ${understood}` }];
  },
};
