import type { OperationsOf } from '@millrace/contract';
import { noCookie } from '../../auth/browser/cookie.ts';
import { Problem } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import { asUser, userOf } from '../principal.ts';
import { describeCurrent } from './current.ts';
import { createLink } from './links.ts';
import { logIn, type LogInDependencies } from './log-in.ts';
import { setPassword } from './passwords.ts';
import { listSessions, revokeSession } from './sessions.ts';

export interface BrowserDependencies extends LogInDependencies {
  /** When the installation was paused; null while it is not. */
  readonly pausedSince: () => Date | null;
  /** The name of the identity provider for logins; undefined for none. */
  readonly providerName: string | undefined;
  /** False if this user has created too many links. */
  readonly mayLink: (userId: string) => boolean;
}

/** Browser sessions: logging in and out, links and passwords. */
export const browserHandlers = (
  dependencies: BrowserDependencies,
): HandlersOf<OperationsOf<'browserSessions'>> => {
  const { sql, ended, pausedSince, mayLink, providerName } = dependencies;
  return {
    createBrowserSession: (request) => logIn(dependencies, request),
    retrieveCurrentBrowserSession: (request) => describeCurrent(sql, asUser(request), pausedSince()),
    async endCurrentBrowserSession(request) {
      const { credentialId, userId } = asUser(request);
      const done = await revokeSession(sql, userId, credentialId, request);
      request.setHeader(
        'set-cookie',
        noCookie({ baseUrl: request.baseUrl, origin: request.header('origin') }),
      );
      return ended(done);
    },
    listBrowserSessions: (request) => {
      const { userId, credentialId } = asUser(request);
      return listSessions(sql, userId, credentialId);
    },
    revokeBrowserSession: async (request) =>
      ended(await revokeSession(sql, userOf(request), request.params.sessionId, request)),
    createBrowserLink(request) {
      const userId = userOf(request);
      if (!mayLink(userId))
        throw new Problem('rate_limited', 'Too many links were created. Try again in a minute.');
      return createLink(sql, userId, request, request.baseUrl);
    },
    listLoginProviders: async ({ baseUrl }) => ({
      data: providerName === undefined ? [] : [{ name: providerName, url: `${baseUrl}/login/oidc` }],
    }),
    setPassword: async (request) => ended(await setPassword(sql, userOf(request), request.body, request)),
  };
};
