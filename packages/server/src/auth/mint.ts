import { createHmac, randomUUID } from 'node:crypto';
import type { AttemptLease, Environment } from './principal.ts';
import { audience, issuer } from './public-token.ts';
import type { SigningKeyRing } from './signing-keys.ts';

export interface PublicTokenOptions {
  /** Such as `read:runs:run_1`. The caller must check that the requester may grant them. */
  readonly scopes: readonly string[];
  /** If it is a function, it receives the current time in milliseconds since 1970. */
  readonly expiresInSeconds: number | ((nowMs: number) => number);
  /** The token may create one object, once. */
  readonly oneTime?: boolean;
  /** A token requested by the code of an attempt ends with that attempt. */
  readonly endsWithAttempt?: boolean;
  /** Columns omitted from subscriptions with this token. Default: those of the calling token. */
  readonly realtime?: { readonly skipColumns?: readonly string[] };
}

/** The requester of a token: a key, a token, or a user with a personal access token. */
export interface MintFor {
  readonly kind?: string;
  readonly environment: Environment;
  /** The token ends with this key or personal access token. */
  readonly credentialId: string;
  /** The user on whose behalf it acts. */
  readonly actor?: string;
  readonly realtime?: { readonly skipColumns?: readonly string[] };
  /** When the calling token ends. The new token does not outlive it. */
  readonly expiresAt?: Date;
  /** The attempt whose code requests it. */
  readonly attempt?: AttemptLease;
}

/**
 * Creates a public token, signed with the environment's own signing key, which no client has. Returns undefined if the environment no
 * longer exists, and for browser sessions.
 */
export type MintPublicToken = (caller: MintFor, options: PublicTokenOptions) => Promise<string | undefined>;

const header = Buffer.from('{"alg":"HS256"}').toString('base64url');

export function createMint(ring: SigningKeyRing): MintPublicToken {
  return async (caller, options) => {
    const { scopes, expiresInSeconds, oneTime, realtime = caller.realtime } = options;
    // A second credential could outlive the session or be read by scripts.
    if (caller.kind === 'browser') return undefined;
    const { environment, credentialId, actor, expiresAt } = caller;
    const { value: keys } = await ring.of(environment.publicId);
    const [signer] = keys?.keys.values() ?? [];
    if (!keys || !signer?.isServers) return undefined;
    const nowMs = keys.now();
    const iat = Math.floor(nowMs / 1_000);
    const last = expiresAt ? Math.floor(expiresAt.getTime() / 1_000) : Infinity;
    const seconds = typeof expiresInSeconds === 'number' ? expiresInSeconds : expiresInSeconds(nowMs);
    const claims = {
      sub: environment.publicId,
      pub: true,
      scopes,
      otu: oneTime || undefined,
      // Distinguishes otherwise equal one-time tokens created in the same second.
      jti: oneTime ? randomUUID() : undefined,
      realtime,
      att: options.endsWithAttempt === true ? caller.attempt : undefined,
      act: actor === undefined ? undefined : { sub: actor },
      via: credentialId,
      iss: issuer,
      aud: audience,
      iat,
      exp: Math.min(iat + Math.ceil(seconds), last),
    };
    const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    const [form] = signer.forms;
    if (!form) return undefined;
    return `${signed}.${createHmac('sha256', form).update(signed).digest('base64url')}`;
  };
}
