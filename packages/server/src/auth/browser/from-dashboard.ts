import { dashboardHeader } from '@millrace/contract';
import { badRequest, Problem } from '../../problem.ts';

/** The headers that show the origin of a request. */
export interface Sender {
  readonly method: string;
  readonly baseUrl: string;
  header(name: string): string | undefined;
}

const foreign = () =>
  new Problem(
    'cross_site',
    "This request was not sent by this server's dashboard: open the dashboard at its own address, and check that the proxy forwards Host or X-Forwarded-Host",
    { code: 'cross_site' },
  );

/**
 * Whether the dashboard's page sends the request. Pages of other origins cannot set the header without a preflight, which no route allows.
 * Throws 403 if the browser reports another page as the sender or, for a change, does not report any: first by `Sec-Fetch-Site`, then by
 * `Origin`.
 */
export function isFromDashboard({ method, baseUrl, header }: Sender): boolean {
  if (header(dashboardHeader) !== '1') return false;
  if (!URL.canParse(baseUrl)) throw badRequest('The Host header is not a valid server address');
  const site = header('sec-fetch-site');
  if (site !== undefined) {
    // A page on another port or subdomain is `same-site`.
    if (site !== 'same-origin') throw foreign();
    return true;
  }
  const origin = header('origin');
  // Browsers send no Origin when a page reads from its own server.
  const isRead = method === 'GET' || method === 'HEAD';
  if (origin === undefined ? !isRead : !isOwnOrigin(origin, baseUrl)) throw foreign();
  return true;
}

/** Behind a proxy that does not report TLS, the browser may use it while the server does not; the reverse cannot happen. */
function isOwnOrigin(origin: string, baseUrl: string): boolean {
  const own = new URL(baseUrl);
  return origin === own.origin || origin === `https://${own.host}`;
}
