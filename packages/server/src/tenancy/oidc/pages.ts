import { loginCookieOf } from '../../auth/browser/cookie.ts';
import type { Clock } from '../../db/clock.ts';
import type { Origin } from '../../request.ts';
import { logOutByProvider } from './log-out.ts';
import { beginOidcLogin, finishOidcLogin, type LoginVisit, type OidcLoginDependencies } from './log-in.ts';

/** The implementation of the login pages. */
export const oidcPages = (
  context: Omit<OidcLoginDependencies, 'now'> & { readonly clock: Pick<Clock, 'now'> },
) => {
  const dependencies = { ...context, now: context.clock.now };
  return {
    begin: (visit: LoginVisit) => beginOidcLogin(dependencies, visit),
    finish: (visit: LoginVisit) => finishOidcLogin(dependencies, visit),
    loggedOut: (logoutToken: string, origin: Origin) => logOutByProvider(dependencies, logoutToken, origin),
    forget: (baseUrl: string) => loginCookieOf(baseUrl, '', 0),
  };
};
