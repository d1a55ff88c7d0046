/** Login of a device (RFC 8628): it requests a code, its user approves the code elsewhere, and it fetches a personal access token. */
import type { Body, Operations, Reply } from '@millrace/contract';
import { newDeviceCode, newUserCode, readUserCode } from '../auth/device-code.ts';
import { credentialDigest } from '../auth/keys.ts';
import { liveSession } from '../auth/browser/live.ts';
import type { UserPrincipal } from '../auth/principal.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { controlCharacters } from './control-characters.ts';
import { notFound, Problem, unauthorized, unprocessable } from '../problem.ts';
import type { Origin } from '../request.ts';
import { readExpiry } from './expiry.ts';
import { insertToken, liveToken, recordForUser } from './tokens.ts';

export interface LoginDependencies {
  readonly sql: Sql;
  readonly now: () => number;
  /** False if too many login requests came from this address. */
  readonly mayAsk: (address: string) => boolean;
  /** False if this user has entered too many user codes. */
  readonly mayTry: (userId: string) => boolean;
}

/** Where a login request came from. */
interface Asking extends Origin {
  readonly hostName: string | undefined;
  readonly forwardedFor: string | undefined;
}

const lifetimeMs = 10 * 60_000;
/** Seconds between two polls of a device; published clients poll once a second. */
const firstInterval = 1;
const slowedBy = 5;
const maxInterval = 60;
/** Maximum number of pending logins. Anyone may request one, and each row is kept for ten minutes. */
const maxWaiting = 10_000;
const tokenDays = 90;
const day = 86_400_000;

const noCode = () => notFound('Code not found, or expired after ten minutes. Request another one.');
const tooMany = (message: string) => new Problem('rate_limited', message);

/** Makes text from a request safe to display in a terminal: no control characters, at most 255 characters. */
const displayable = (text: string | undefined): string | null =>
  text?.toWellFormed().replace(controlCharacters, '\ufffd').slice(0, 255) || null;

export async function requestLogin(
  { sql, now, mayAsk }: LoginDependencies,
  { address, userAgent, hostName, forwardedFor }: Asking,
  baseUrl: string,
): Promise<Reply<Operations['createAuthorizationCode']>> {
  if (!mayAsk(address))
    throw tooMany('Too many login requests from this address. Try again in a few minutes.');
  const requestedAt = new Date(now());
  const expiresAt = new Date(now() + lifetimeMs);
  await sql`delete from login_requests where expires_at <= ${requestedAt}`;
  const deviceCode = newDeviceCode();
  // Tries again with another code if the user code is already in use.
  for (let tries = 0; tries < 5; tries++) {
    const userCode = newUserCode();
    const { count } = await sql`
      insert into login_requests (device_digest, user_code, host_name, user_agent, address, forwarded_for, requested_at, expires_at, interval_seconds)
      select ${credentialDigest(deviceCode)}::bytea, ${userCode}::text, ${displayable(hostName)}::text, ${displayable(userAgent)}::text,
             ${address}::text, ${displayable(forwardedFor)}::text, ${requestedAt}::timestamptz, ${expiresAt}::timestamptz, ${firstInterval}::int
       where (select count(*) from login_requests) < ${maxWaiting}
      on conflict (user_code) do nothing`;
    if (count === 0) continue;
    return {
      authorizationCode: deviceCode,
      userCode,
      url: `${baseUrl}/api/v1/authorization-code/approve`,
      expiresAt: expiresAt.toISOString(),
      interval: firstInterval,
    };
  }
  throw tooMany('Too many logins are waiting for approval. Try again in a few minutes.');
}

interface Waiting {
  readonly hostName: string | null;
  readonly userAgent: string | null;
  readonly address: string;
  readonly forwardedFor: string | null;
  readonly requestedAt: Date;
  readonly expiresAt: Date;
  readonly isApproved: boolean;
}

function triedCode({ mayTry }: LoginDependencies, userId: string, typed: string): string {
  if (!mayTry(userId)) throw tooMany('Too many codes were tried. Try again in a few minutes.');
  const userCode = readUserCode(typed);
  if (userCode === undefined) throw noCode();
  return userCode;
}

const approvedAlready = () => unprocessable('This code has already been approved');

export async function describeLogin(
  dependencies: LoginDependencies,
  userId: string,
  typed: string,
): Promise<Reply<Operations['describeAuthorizationCode']>> {
  const userCode = triedCode(dependencies, userId, typed);
  const [row] = await dependencies.sql<Waiting[]>`
    select host_name as "hostName", user_agent as "userAgent", address, forwarded_for as "forwardedFor", requested_at as "requestedAt",
           expires_at as "expiresAt", name is not null as "isApproved"
      from login_requests where user_code = ${userCode} and expires_at > ${new Date(dependencies.now())}`;
  if (!row) throw noCode();
  const { isApproved, requestedAt, expiresAt, ...from } = row;
  if (isApproved) throw approvedAlready();
  return { userCode, ...from, requestedAt: requestedAt.toISOString(), expiresAt: expiresAt.toISOString() };
}

/**
 * The credential that an approval depends on: a token, the token that the session was opened with, or the session. The approved credential
 * expires no later than that token and is not created if the token has expired by then.
 */
type Approver =
  | {
      readonly kind: 'personalAccessToken';
      readonly id: string;
      readonly userId: string;
      readonly expiresAt: Date | null;
    }
  | { readonly kind: 'browser'; readonly id: string; readonly userId: string; readonly expiresAt: Date };

async function liveApprover(
  tx: Queryable,
  { kind, credentialId }: Pick<UserPrincipal, 'kind' | 'credentialId'>,
): Promise<Approver | undefined> {
  if (kind === 'browser') {
    const [session] = await tx<{ userId: string; tokenId: string | null; expiresAt: Date }[]>`
      select t.user_id as "userId", t.token_id as "tokenId", t.expires_at as "expiresAt" from browser_sessions t
       where t.id = ${credentialId} and ${liveSession(tx)} for share of t`;
    if (!session) return undefined;
    const { tokenId, userId, expiresAt } = session;
    if (tokenId === null) return { kind, id: credentialId, userId, expiresAt };
    return liveApprover(tx, { kind: 'personalAccessToken', credentialId: tokenId });
  }
  const token = await liveToken(tx, credentialId);
  return token && { kind: 'personalAccessToken', id: credentialId, ...token };
}

/** Approves a login as the caller. */
export async function approveLogin(
  dependencies: LoginDependencies,
  principal: UserPrincipal,
  { userCode: typed, name, expiresAt: requestedExpiry }: Body<Operations['approveAuthorizationCode']>,
): Promise<Reply<Operations['approveAuthorizationCode']>> {
  const { sql, now } = dependencies;
  const userCode = triedCode(dependencies, principal.userId, typed);
  const wished =
    requestedExpiry === null
      ? null
      : (readExpiry(requestedExpiry, now()) ?? new Date(now() + tokenDays * day));
  return sql.begin(async (tx) => {
    const approver = await liveApprover(tx, principal);
    if (!approver) throw unauthorized('Invalid Access Token');
    // A session without a token has no expiry for a new token to inherit, just as when it creates one directly.
    const latest = approver.kind === 'browser' ? null : approver.expiresAt;
    if (requestedExpiry && wished && latest && wished > latest) {
      throw unprocessable(
        `expiresAt is after ${latest.toISOString()}, when the approving token expires. Send an earlier date, or leave it out.`,
      );
    }
    const ends =
      wished && latest ? new Date(Math.min(wished.getTime(), latest.getTime())) : (wished ?? latest);
    const [row] = await tx<{ expiresAt: Date }[]>`
      update login_requests set name = ${name}, token_expires_at = ${ends},
             token_id = ${approver.kind === 'browser' ? null : approver.id}, session_id = ${approver.kind === 'browser' ? approver.id : null}
       where user_code = ${userCode} and name is null and expires_at > ${new Date(now())}
      returning expires_at as "expiresAt"`;
    if (!row) {
      const [approved] = await tx`
        select from login_requests where user_code = ${userCode} and expires_at > ${new Date(now())}`;
      throw approved ? approvedAlready() : noCode();
    }
    return {
      name,
      expiresAt: row.expiresAt.toISOString(),
      tokenExpiresAt: ends?.toISOString() ?? null,
    };
  });
}

/** The state of a login that a device requested. */
export type Approval =
  | { readonly state: 'authorization_pending' | 'slow_down'; readonly interval: number }
  | { readonly state: 'used' }
  | {
      readonly state: 'approved';
      readonly approver: Approver;
      /** The name of the credential created for it. */
      readonly name: string;
      readonly expiresAt: Date | null;
    };

/**
 * Uses an approved login, in the transaction that creates the device's credential. A device that polls too early must wait longer and
 * receives nothing until then.
 */
export async function takeApproval(tx: Queryable, deviceCode: string, now: number): Promise<Approval> {
  const digest = credentialDigest(deviceCode);
  const at = new Date(now);
  const [request] = await tx<
    {
      polledAt: Date | null;
      interval: number;
      tokenId: string | null;
      sessionId: string | null;
      name: string;
      expiresAt: Date | null;
      isFetched: boolean;
    }[]
  >`
    select polled_at as "polledAt", interval_seconds as interval, token_id as "tokenId", session_id as "sessionId", name, token_expires_at as "expiresAt",
           fetched_at is not null as "isFetched"
      from login_requests where device_digest = ${digest} and expires_at > ${at} for update`;
  if (!request) throw noCode();
  if (request.isFetched) return { state: 'used' };
  const { polledAt, tokenId, sessionId, name, expiresAt } = request;
  const approvedBy = tokenId ?? sessionId;
  // Half of the interval, because network delays vary.
  const isTooSoon = polledAt !== null && now - polledAt.getTime() < request.interval * 500;
  const interval = isTooSoon ? Math.min(maxInterval, request.interval + slowedBy) : request.interval;
  if (isTooSoon || approvedBy === null) {
    await tx`
      update login_requests set polled_at = ${at}, interval_seconds = ${interval} where device_digest = ${digest}`;
    return { state: isTooSoon ? 'slow_down' : 'authorization_pending', interval };
  }
  const approver = await liveApprover(tx, {
    kind: tokenId === null ? 'browser' : 'personalAccessToken',
    credentialId: approvedBy,
  });
  if (!approver)
    throw notFound('The token or browser session that approved this code has ended. Request another code.');
  await tx`update login_requests set fetched_at = ${at} where device_digest = ${digest}`;
  return { state: 'approved', approver, name, expiresAt };
}

/** Returns the token once. */
export async function exchangeLogin(
  { sql, now }: LoginDependencies,
  deviceCode: string,
  origin: Origin,
): Promise<Reply<Operations['exchangeAuthorizationCode']>> {
  return sql.begin(async (tx) => {
    const approval = await takeApproval(tx, deviceCode, now());
    if (approval.state !== 'approved') return { token: null, ...approval };
    const { approver, name, expiresAt } = approval;
    const { userId, id: credentialId } = approver;
    const { row, text } = await insertToken(tx, userId, name, expiresAt);
    const principal: UserPrincipal =
      approver.kind === 'browser'
        ? { kind: 'browser', credentialId, userId, expiresAt: approver.expiresAt }
        : { kind: 'personalAccessToken', credentialId, userId };
    const by = { principal, origin };
    await recordForUser(tx, userId, by, {
      act: 'token.created',
      target: row.id,
      new: { name, expiresAt: expiresAt ?? undefined },
    });
    return { token: { token: text, obfuscatedToken: `svc_pat_…${row.last_four}` } };
  });
}
