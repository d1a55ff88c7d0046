import { dashboardHeader } from '@millrace/contract';
import { badRequest, Problem } from '../../problem.ts';

/** The headers by which a request shows where it comes from. */
export interface Sender {
  readonly method: string;
  readonly baseUrl: string;
  header(name: string): string | undefined;
}

const foreign = () =>
  new Problem(
    'cross_site',
    'This request was not sent by the dashboard of this server: open the dashboard under its own address, and check that the proxy passes Host or X-Forwarded-Host on',
    { code: 'cross_site' },
  );

/**
 * Whether the page of the dashboard says that it sends the request. Pages of other origins cannot set the header without a preflight, which
 * no route allows. Throws 403 if the browser says that another page sends it, or, for what changes something, does not say where it comes
 * from: first by `Sec-Fetch-Site`, then by `Origin`.
 */
export function isFromDashboard({ method, baseUrl, header }: Sender): boolean {
  if (header(dashboardHeader) !== '1') return false;
  if (!URL.canParse(baseUrl)) throw badRequest('The Host header is not the address of a server');
  const site = header('sec-fetch-site');
  if (site !== undefined) {
    // A page on another port or subdomain is `same-site`.
    if (site !== 'same-origin') throw foreign();
    return true;
  }
  const origin = header('origin');
  // What a page reads from its own server has no Origin.
  const isRead = method === 'GET' || method === 'HEAD';
  if (origin === undefined ? !isRead : !isOwnOrigin(origin, baseUrl)) throw foreign();
  return true;
}

/** Behind a proxy that does not say so, the browser may speak TLS where the server does not; not the other way round. */
function isOwnOrigin(origin: string, baseUrl: string): boolean {
  const own = new URL(baseUrl);
  return origin === own.origin || origin === `https://${own.host}`;
}
