import type { ServerCheck } from './input.ts';

export const proxyAddress: ServerCheck = {
  name: 'proxy-address',
  condition: 'the server knows the address that clients use',
  severity: 'error',
  why: 'Responses contain addresses for large payloads, callbacks and browser links. Clients cannot use them.',
  fix: 'The proxy must send `Host` (or `X-Forwarded-Host`) and `X-Forwarded-Proto`. nginx: `proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;`. Below a path, set `MILLRACE_BASE_PATH`.',
  async find({ url, requireDiagnosis }) {
    const { diagnosis } = await requireDiagnosis();
    const [used, understood] = [url, diagnosis.request.url].map((address) => new URL(`${address}/`).href);
    return used === understood
      ? []
      : [{ what: `The server was called at ${used}, but sees the address ${understood}` }];
  },
};
