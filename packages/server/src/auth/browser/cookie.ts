/** The cookies of a browser session and of a login at an identity provider: their names and attributes, and how to read them. */

/** The part of a cookie's name that identifies its purpose. */
type CookieKind = 'millrace_session' | 'millrace_oidc';

/** The address at which the browser reached the server. */
export interface ServerAddress {
  /** The address under which clients reach the server, with its base path. */
  readonly baseUrl: string;
  /** The `Origin` header, which shows whether the browser uses TLS even if the proxy does not report it. */
  readonly origin: string | undefined;
}

function urlOf({ baseUrl, origin }: ServerAddress): URL {
  const url = new URL(baseUrl);
  if (origin === `https://${url.host}`) url.protocol = 'https:';
  return url;
}

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/**
 * Browsers accept names with the prefix `__Host-` only over TLS and for this exact host, and `__Secure-` only over TLS, so other hosts in
 * the domain cannot set them. Cookies are shared by all ports of a host. The port is part of the name so that two servers do not log each
 * other's users out.
 */
function nameAt(kind: CookieKind, { protocol, pathname, port }: URL): string {
  const prefix = protocol !== 'https:' ? '' : withSlash(pathname) === '/' ? '__Host-' : '__Secure-';
  return port === '' ? prefix + kind : `${prefix}${kind}_${port}`;
}

function cookieAt(kind: CookieKind, at: ServerAddress, value: string, maxAgeSeconds: number): string {
  const url = urlOf(at);
  const secure = url.protocol === 'https:' ? '; Secure' : '';
  // The provider redirects back to this server, so the browser must send that cookie with a navigation from another site.
  const sameSite = kind === 'millrace_oidc' ? 'Lax' : 'Strict';
  // A semicolon would begin another attribute.
  const path = withSlash(url.pathname).replaceAll(';', '%3B');
  return `${nameAt(kind, url)}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}

/** The `Set-Cookie` header that logs the browser in. */
export const cookieOf = (at: ServerAddress, text: string, expiresAt: Date, now: number): string =>
  cookieAt('millrace_session', at, text, Math.max(0, Math.floor((expiresAt.getTime() - now) / 1_000)));

/** The `Set-Cookie` header that removes the cookie. */
export const noCookie = (at: ServerAddress): string => cookieAt('millrace_session', at, '', 0);

/** The `Set-Cookie` header with the state of a login at a provider; an empty text removes it. */
export const loginCookieOf = (baseUrl: string, text: string, maxAgeSeconds: number): string =>
  cookieAt('millrace_oidc', { baseUrl, origin: undefined }, text, maxAgeSeconds);

/**
 * The session in a `Cookie` header; undefined if there is none. If the proxy does not report TLS, both names are read. Two different values
 * for one name are ignored, because another page may have set one of them.
 */
export const readCookie = (header: string | undefined, baseUrl: string): string | undefined =>
  readCookieOf('millrace_session', header, baseUrl);

/** The state of a login at a provider, read in the same way. */
export const readLoginCookie = (header: string | undefined, baseUrl: string): string | undefined =>
  readCookieOf('millrace_oidc', header, baseUrl);

function readCookieOf(kind: CookieKind, header: string | undefined, baseUrl: string): string | undefined {
  if (header === undefined || !header.includes(kind)) return undefined;
  const url = new URL(baseUrl);
  const overTls = nameAt(kind, Object.assign(new URL(url), { protocol: 'https:' }));
  for (const name of new Set([overTls, nameAt(kind, url)])) {
    const values = new Set(valuesOf(header, name));
    if (values.size > 0) return values.size === 1 ? [...values][0] : undefined;
  }
  return undefined;
}

const valuesOf = (header: string, name: string): string[] =>
  header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
