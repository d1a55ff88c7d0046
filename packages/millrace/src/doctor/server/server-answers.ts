import { foreignPage } from '@millrace/contract/plain';
import { isMillrace } from './is-millrace.ts';
import type { ServerCheck } from './input.ts';

export const serverAnswers: ServerCheck = {
  name: 'server-answers',
  condition: 'a Millrace server responds at the address',
  severity: 'error',
  why: 'Applications cannot trigger runs, and runners cannot connect.',
  fix: 'Start the server, or correct the address (`--url`, `MILLRACE_API_URL`), the DNS, or the proxy.',
  async find({ url }) {
    if (await isMillrace(url)) return [];
    try {
      const response = await fetch(`${url}/healthz`, {
        redirect: 'manual',
        signal: AbortSignal.timeout(5_000),
      });
      const { status } = response;
      const page = foreignPage(status, await response.text());
      const target = response.headers.get('location');
      return target !== null && status >= 300 && status < 400
        ? [{ what: `${url} redirects to ${originOf(target, url)}: use that address.` }]
        : [
            {
              what: `No Millrace server at ${url}: /healthz has status ${page ?? status}.`,
            },
          ];
    } catch (error) {
      const { cause = error } = error as Error;
      return [{ what: `${url} does not respond: ${(cause as Error).message}` }];
    }
  },
};

const originOf = (target: string, base: string): string =>
  URL.canParse(target, base) ? new URL(target, base).origin : '?';
