/** Logs a browser in: by a one-time link, a personal access token, an approval from the command line, or a password. */
import type { Body, Operations, Reply } from '@millrace/contract';
import { cookieOf, readCookie } from '../../auth/browser/cookie.ts';
import { isFromDashboard } from '../../auth/browser/from-dashboard.ts';
import { personalAccessTokenByDigest } from '../../auth/credential-rows.ts';
import { credentialDigest, credentialForm, isBrowserToken } from '../../auth/keys.ts';
import type { Queryable, Sql } from '../../db/connect.ts';
import type { Log } from '../../logger.ts';
import { Problem, unauthorized } from '../../problem.ts';
import type { Request } from '../../request.ts';
import { takeApproval } from '../login.ts';
import { useLink } from './links.ts';
import { logInByPassword } from './passwords.ts';
import { openSession, type LoggedIn } from './sessions.ts';

export interface LogInDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly now: () => number;
  /** Notifies this process that a credential has ended. */
  readonly ended: <T>(answer: T) => T;
  /** False if too many logins came from this address. */
  readonly mayLogIn: (address: string) => boolean;
  /** False if too many passwords were tried for this email address, either from this IP address or in total. */
  readonly mayTryPassword: (email: string, address: string) => boolean;
}

type LogInRequest = Pick<
  Request<Operations['createBrowserSession']>,
  'body' | 'header' | 'origin' | 'baseUrl' | 'setHeader'
>;
type LogInReply = Reply<Operations['createBrowserSession']>;

const tooMany = (what: string) =>
  new Problem('rate_limited', `Too many ${what}. Try again in a minute.`, {}, false);

export async function logIn(dependencies: LogInDependencies, request: LogInRequest): Promise<LogInReply> {
  const { sql, log, now, ended, mayLogIn } = dependencies;
  const { origin, baseUrl, body } = request;
  const header = (name: string) => request.header(name);
  // Another site must not be able to log its visitor in as a different user.
  if (!isFromDashboard({ method: 'POST', baseUrl, header }))
    throw new Problem(
      'cross_site',
      'Only the dashboard can log in here: send the header x-millrace-dashboard: 1',
    );
  if (!mayLogIn(origin.address)) throw tooMany('logins from this address');
  const before = readCookie(header('cookie'), baseUrl);
  try {
    // Outside the transaction, because hashing is slow and must not hold a connection.
    const known = await identify(dependencies, body, origin.address);
    const opened = await sql.begin(async (tx) => {
      const who = known ?? (await identifyOnce(tx, body, now()));
      if ('state' in who) return who;
      return openSession(
        tx,
        who,
        origin,
        before !== undefined && isBrowserToken(before) ? before : undefined,
      );
    });
    if ('state' in opened) return { session: null, ...opened };
    const { session, text, expiresAt, hasEnded } = opened;
    request.setHeader('set-cookie', cookieOf({ baseUrl, origin: header('origin') }, text, expiresAt, now()));
    return hasEnded ? ended({ session }) : { session };
  } catch (error) {
    if (error instanceof Problem && error.status === 401)
      log.warn('browser.refused', { address: origin.address, method: methodOf(body) });
    throw error;
  }
}

type LogInBody = Body<Operations['createBrowserSession']>;

const methodOf = ({ token, accessToken, authorizationCode }: LogInBody): string =>
  token !== undefined
    ? 'link'
    : accessToken !== undefined
      ? 'token'
      : authorizationCode !== undefined
        ? 'approval'
        : 'password';

/** Identifies the user by a reusable credential; undefined for a one-time credential. */
async function identify(
  { sql, mayTryPassword }: LogInDependencies,
  { accessToken, email, password }: LogInBody,
  address: string,
): Promise<LoggedIn | undefined> {
  if (accessToken !== undefined) {
    const text = accessToken.trim();
    const found =
      credentialForm(text) === 'personalAccessToken'
        ? await personalAccessTokenByDigest(sql, credentialDigest(text))
        : undefined;
    if (!found)
      throw unauthorized(
        'Invalid personal access token. It must start with svc_pat_ and must not have expired.',
      );
    const { userId, credentialId: id, expiresAt } = found;
    return { userId, method: 'token', token: { id, expiresAt } };
  }
  if (email === undefined || password === undefined) return undefined;
  if (!mayTryPassword(email.toLowerCase(), address)) throw tooMany('password attempts for this user');
  return logInByPassword(sql, email, password);
}

/** Identifies the user by a link or an approval, which is consumed in the transaction that opens the session. */
async function identifyOnce(
  tx: Queryable,
  { token, authorizationCode }: LogInBody,
  now: number,
): Promise<LoggedIn | { state: 'authorization_pending' | 'slow_down'; interval: number }> {
  if (token !== undefined) return useLink(tx, token);
  const taken = await takeApproval(tx, authorizationCode ?? '', now);
  if (taken.state === 'used') throw unauthorized('This code has already been used. Request another one.');
  if (taken.state !== 'approved') return { state: taken.state, interval: taken.interval };
  const { approver, expiresAt } = taken;
  const { userId, id, kind } = approver;
  return { userId, method: 'approval', token: kind === 'browser' ? null : { id, expiresAt } };
}
