/** Logs a browser in through the identity provider: the authorization code flow with PKCE, state and nonce. */
import { loginCookieOf, cookieOf, readCookie, readLoginCookie } from '../../auth/browser/cookie.ts';
import { isBrowserToken } from '../../auth/keys.ts';
import { seal, unseal, UnsealError, type MasterKey } from '../../auth/seal.ts';
import type { Sql } from '../../db/connect.ts';
import type { Log } from '../../logger.ts';
import { Problem } from '../../problem.ts';
import type { Origin } from '../../request.ts';
import { openSession } from '../browser/sessions.ts';
import { OidcFailure } from './failure.ts';
import { roleOf } from './groups.ts';
import { joinByProvider } from './join.ts';
import { organizationOf } from './organization.ts';
import { sentenceOf } from './sentences.ts';
import type { LoginSecrets, Provider } from './provider.ts';

export interface OidcLoginDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly masterKey: MasterKey;
  readonly provider: Provider;
  readonly now: () => number;
  /** Notifies this process that a credential or a role has ended. */
  readonly accessEnded: () => void;
  /** False if too many logins came from this address. */
  readonly mayLogIn: (address: string) => boolean;
}

/** A browser's request, on its way to the provider or back. */
export interface LoginVisit {
  readonly baseUrl: string;
  readonly origin: Origin;
  /** The `Cookie` header. */
  readonly cookie: string | undefined;
  /** The query string, including its question mark, or empty. */
  readonly search: string;
}

/** The next address of the browser, and the cookie to store. */
export interface Redirect {
  readonly location: string;
  readonly cookies: readonly string[];
}

interface Pending extends LoginSecrets {
  /** The page to return to. */
  readonly returnTo: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export const callbackPath = '/login/oidc/callback';
const pendingSeconds = 10 * 60;
const pendingContext = 'oidc_login';

/** Sends the browser to the provider. The state for the callback is in a cookie that only this server can read. */
export async function beginOidcLogin(
  { provider, masterKey, now, mayLogIn, log }: OidcLoginDependencies,
  { baseUrl, origin, search }: LoginVisit,
): Promise<Redirect> {
  if (!mayLogIn(origin.address)) throw tooMany();
  const { url, secrets } = await provider.begin(baseUrl + callbackPath).catch((error: unknown) => {
    throw refusalOf(error, log, origin);
  });
  const pending: Pending = {
    ...secrets,
    returnTo: ownPath(new URLSearchParams(search).get('return')),
    until: now() + pendingSeconds * 1_000,
  };
  const text = seal(masterKey, JSON.stringify(pending), pendingContext).toString('base64url');
  return { location: url, cookies: [loginCookieOf(baseUrl, text, pendingSeconds)] };
}

/** Called when the provider has sent the browser back. Opens a session for the user that the provider names. */
export async function finishOidcLogin(
  dependencies: OidcLoginDependencies,
  { baseUrl, origin, cookie, search }: LoginVisit,
): Promise<Redirect> {
  const { sql, log, masterKey, provider, now, accessEnded, mayLogIn } = dependencies;
  if (!mayLogIn(origin.address)) throw tooMany();
  try {
    const pending = pendingIn(dependencies, readLoginCookie(cookie, baseUrl));
    if (new URLSearchParams(search).get('state') !== pending.state) throw new OidcFailure('invalid', 'state');
    const user = await provider.finish(new URL(baseUrl + callbackPath + search), pending);
    const role = roleOf(user.groups, provider.settings);
    if (role === undefined) throw new OidcFailure('refused', 'no_group');
    const organization = await organizationOf(sql, provider.settings);
    if (organization === undefined) throw new OidcFailure('misconfigured', 'no_organization');
    const before = readCookie(cookie, baseUrl);
    const opened = await sql.begin(async (tx) => {
      const by = { issuer: user.issuer, origin };
      const userId = await joinByProvider(tx, masterKey, { organization, user, role }, by);
      return openSession(
        tx,
        { userId, method: 'oidc', token: null },
        origin,
        before !== undefined && isBrowserToken(before) ? before : undefined,
      );
    });
    // The user may have a different role now.
    accessEnded();
    return {
      location: baseUrl + pending.returnTo,
      cookies: [
        cookieOf({ baseUrl, origin: undefined }, opened.text, opened.expiresAt, now()),
        loginCookieOf(baseUrl, '', 0),
      ],
    };
  } catch (error) {
    throw refusalOf(error, log, origin);
  }
}

/** The content of the login cookie. The callback always consumes it. */
function pendingIn({ masterKey, now }: OidcLoginDependencies, text: string | undefined): Pending {
  if (!text) throw new OidcFailure('invalid', 'no_login');
  let pending: Pending;
  try {
    pending = JSON.parse(unseal(masterKey, Buffer.from(text, 'base64url'), pendingContext)) as Pending;
  } catch (error) {
    if (error instanceof UnsealError) throw new OidcFailure('invalid', 'no_login');
    throw error;
  }
  if (pending.until <= now()) throw new OidcFailure('invalid', 'no_login');
  return pending;
}

/** A path of this server and no other address: browsers interpret a backslash as a slash, and two slashes as the start of a host. */
const ownPath = (path: string | null): string =>
  path !== null && /^\/(?![/\\])[\w\-./~%?=&:,+@!*'()[\]]{0,2000}$/.test(path) ? path : '/';

const tooMany = () =>
  new Problem('rate_limited', 'Too many logins came from this address. Try again in a minute.');

/** The Problem for a failure, which is logged without the sent data. */
function refusalOf(error: unknown, log: Log, { address }: Origin): unknown {
  if (!(error instanceof OidcFailure)) return error;
  const { reason, code } = error;
  log.warn('oidc.refused', { address, reason, code });
  return sentenceOf(error);
}
