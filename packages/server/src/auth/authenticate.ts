import { hash } from 'node:crypto';
import type { Sql } from '../db/connect.ts';
import { MisusedCredential, unauthorized } from '../problem.ts';
import { verifyAttempt } from './attempt.ts';
import { branchName } from './branch.ts';
import { confirmActor, type ConfirmUser } from './confirm.ts';
import { credentialDigest, credentialForm, isBrowserToken } from './keys.ts';
import { branchOf, noteUse, personalAccessTokenByDigest, secretKeyByDigest } from './credential-rows.ts';
import { environmentFor, scopesOfRole, sessionByDigest, type NamedEnvironment } from './browser/principal.ts';
import type { Environment, Principal } from './principal.ts';
import { verifyPublicToken } from './public-token.ts';
import { LookupCache, type Loaded } from './lookup-cache.ts';
import type { SigningKeyRing } from './signing-keys.ts';

/** The headers that identify the caller. */
export interface Credentials {
  /** The Authorization header, with or without `Bearer `. */
  readonly authorization: string | undefined;
  /** `x-service-branch`. */
  readonly serviceBranch?: string | undefined;
  /** `x-trigger-branch`; used if `x-service-branch` names no branch. */
  readonly triggerBranch?: string | undefined;
  /** The request is about the environment itself: branches are ignored, and preview keys need none. */
  readonly wholeEnvironment?: boolean | undefined;
  /** The dashboard session; used only without an Authorization header. */
  readonly browser?: BrowserCredentials | undefined;
}

export interface BrowserCredentials {
  /** The value of the cookie. */
  readonly session: string;
  /** The environment to act in; undefined to act for the user. */
  readonly acts: NamedEnvironment | undefined;
}

/** Identifies the caller: synchronously if cached (for one second). Throws or rejects with a 401 Problem. */
export type Authenticate = (credentials: Credentials) => Principal | Promise<Principal>;

const missing = () =>
  unauthorized('Invalid or Missing API key: send `Authorization: Bearer <key>` with the request');
const invalid = () => unauthorized('Invalid API key');
const loggedOut = () => unauthorized('This browser is not logged in, or its session has ended: log in again');

export type CachingAuthenticate = Authenticate & {
  /** Clears the cache: a credential or a branch has just been revoked. */
  clearCache(): void;
};

interface AuthenticateDependencies {
  readonly sql: Sql;
  readonly ring: SigningKeyRing;
  /** Confirms users of an identity provider. Default: no user is confirmed again. */
  readonly confirm?: ConfirmUser;
}

export function createAuthenticate({
  sql,
  ring,
  confirm = () => {},
}: AuthenticateDependencies): CachingAuthenticate {
  const cache = new LookupCache<Principal>({ maxAgeMs: 1_000, dueMs: 500, maxEntries: 10_000 });
  // Invalid credentials are cached too, so that repeating one costs no query. A new credential still works immediately, because no client
  // can send its text before it is stored. The caches are separate, so that a flood of invalid credentials evicts no valid one.
  const unknown = new LookupCache<true>({ maxAgeMs: 1_000, dueMs: Infinity, maxEntries: 10_000 });

  const authenticate: Authenticate = (credentials) => {
    const { authorization, serviceBranch, triggerBranch, wholeEnvironment } = credentials;
    if (authorization === undefined || authorization === '') {
      if (credentials.browser) return ofBrowser(credentials.browser);
      throw missing();
    }
    // Cached by digest, so that no credential stays in memory and the timing of a lookup reveals nothing about one.
    const key = hash(
      'sha256',
      wholeEnvironment
        ? `${authorization}\n`
        : serviceBranch === undefined && triggerBranch === undefined
          ? authorization
          : `${authorization}\n${serviceBranch ?? ''}\n${triggerBranch ?? ''}`,
      'base64',
    );
    return found(key, () => identify(credentials));
  };

  function found(key: string, load: () => Promise<Loaded<Principal>>): Principal | Promise<Principal> {
    const known = cache.find(key);
    if (known === undefined) return cache.load(key, load).then((entry) => entry.value);
    if (cache.isDue(key, known)) cache.load(key, load).catch(() => {});
    return known.value;
  }

  function ofBrowser({ session, acts }: BrowserCredentials): Principal | Promise<Principal> {
    if (!isBrowserToken(session)) throw loggedOut();
    const named = acts && [acts.project, acts.environment, acts.branch, acts.wholeEnvironment];
    const key = hash('sha256', JSON.stringify([session, named]), 'base64');
    return found(key, () => browserSession(session, acts));
  }

  const clearCache = () => {
    ring.clearCache();
    cache.clear();
  };

  return Object.assign(authenticate, { clearCache });

  async function identify(credentials: Credentials): Promise<Loaded<Principal>> {
    const text = (credentials.authorization ?? '').replace(/^bearer +/i, '').trim();
    const form = credentialForm(text);
    if (form === 'publicToken') return publicToken(text);
    if (form === 'personalAccessToken') return personalAccessToken(text);
    const { serviceBranch, triggerBranch, wholeEnvironment } = credentials;
    const branch = branchName(serviceBranch) ?? branchName(triggerBranch);
    if (form === 'attempt') return verifyAttempt(ring, sql, text, branch);
    if (form === 'secretKey') return secretKey(text, wholeEnvironment, branch);
    throw text === '' ? missing() : invalid();
  }

  async function publicToken(text: string): Promise<Loaded<Principal>> {
    const verified = await verifyPublicToken(ring, sql, text);
    const { value } = verified;
    if (value.kind === 'publicToken' && value.actor !== undefined)
      await confirmActor(sql, confirm, value.actor);
    return verified;
  }

  async function lookUp<R>(text: string, find: (sql: Sql, digest: Buffer) => Promise<R | undefined>) {
    const digest = credentialDigest(text);
    const key = digest.toString('base64');
    const asOf = performance.now();
    if (unknown.find(key)) return { row: undefined, asOf };
    const row = await find(sql, digest);
    if (!row) unknown.store(key, { value: true, asOf });
    return { row, asOf };
  }

  async function personalAccessToken(text: string): Promise<Loaded<Principal>> {
    const { row, asOf } = await lookUp(text, personalAccessTokenByDigest);
    if (!row) throw unauthorized('Invalid Access Token');
    const { credentialId, userId, endsInMs, expiresAt, useIsStale, confirmedMsAgo } = row;
    if (confirmedMsAgo !== null) await confirm(userId, confirmedMsAgo);
    if (useIsStale) noteUse(sql, 'personal_access_tokens', credentialId).catch(() => {});
    return {
      value: { kind: 'personalAccessToken', credentialId, userId, ...(expiresAt && { expiresAt }) },
      asOf,
      endsInMs: endsInMs ?? undefined,
    };
  }

  async function browserSession(
    text: string,
    acts: NamedEnvironment | undefined,
  ): Promise<Loaded<Principal>> {
    const { row, asOf } = await lookUp(text, sessionByDigest);
    if (!row) throw loggedOut();
    const { credentialId, userId, expiresAt, endsInMs, useIsStale, confirmedMsAgo } = row;
    if (confirmedMsAgo !== null) await confirm(userId, confirmedMsAgo);
    if (useIsStale) noteUse(sql, 'browser_sessions', credentialId).catch(() => {});
    const session = { kind: 'browser', credentialId, userId, expiresAt } as const;
    if (!acts) return { value: session, asOf, endsInMs };
    const { environment, role } = await environmentFor(sql, userId, acts);
    return { value: { ...session, environment, role, scopes: scopesOfRole[role] }, asOf, endsInMs };
  }

  async function secretKey(
    text: string,
    wholeEnvironment: boolean | undefined,
    branch: string | undefined,
  ): Promise<Loaded<Principal>> {
    const { row, asOf } = await lookUp(text, secretKeyByDigest);
    if (!row) throw invalid();
    const { credentialId, scopes, endsInMs, expiresAt, useIsStale } = row;
    const environment = wholeEnvironment ? row.environment : await targetOf(row.environment, branch);
    if (useIsStale) noteUse(sql, 'secret_keys', credentialId).catch(() => {});
    return {
      value: { kind: 'secretKey', credentialId, environment, scopes, ...(expiresAt && { expiresAt }) },
      asOf,
      endsInMs: endsInMs ?? undefined,
    };
  }

  /** Only preview and dev have branches. Hosting platforms set the branch variable in production too, where it must be ignored. */
  async function targetOf(environment: Environment, branch: string | undefined): Promise<Environment> {
    const { kind } = environment;
    if (kind === 'prod' || kind === 'stg') return environment;
    if (kind === 'dev' && (branch === undefined || branch === 'default')) return environment;
    if (branch === undefined) {
      throw new MisusedCredential(
        'x-service-branch header required for the preview environment: name a branch of it (--branch of `millrace`, previewBranch of the SDK)',
        'branch_required',
      );
    }
    const target = await branchOf(sql, environment, branch);
    if (!target)
      throw new MisusedCredential(
        'No matching branch: create it first (`millrace branches create`), or correct the name (--branch, x-service-branch)',
        'branch_not_found',
      );
    return target;
  }
}
