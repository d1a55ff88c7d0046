import { createHmac } from 'node:crypto';
import type { Principal } from './principal.ts';
import { audience, issuer } from './public-token.ts';
import { isUnrestricted } from './scopes.ts';
import type { SigningKeyRing } from './signing-keys.ts';

export interface PublicTokenOptions {
  /** Such as `read:runs:run_1`. The caller checks that whoever asks may have them. */
  readonly scopes: readonly string[];
  readonly expiresInSeconds: number;
  /** The token may create one thing, once. */
  readonly oneTime?: boolean;
  /** Columns that live subscriptions made with it leave out. */
  readonly realtime?: { readonly skipColumns?: readonly string[] };
}

/**
 * Makes a public token of the caller's environment. It is signed with the calling key if that one is unrestricted, else with
 * the oldest unrestricted key, and ends when the calling key is revoked. Undefined when the environment has no key to sign with.
 */
export type MintPublicToken = (
  caller: Exclude<Principal, { kind: 'personalAccessToken' }>,
  options: PublicTokenOptions,
) => Promise<string | undefined>;

const header = Buffer.from('{"alg":"HS256"}').toString('base64url');

export function createMint(ring: SigningKeyRing): MintPublicToken {
  return async ({ environment, credentialId }, { scopes, expiresInSeconds, oneTime, realtime }) => {
    const { value: keys } = await ring.of(environment.publicId);
    const calling = keys?.keys.get(credentialId);
    const signer = calling && isUnrestricted(calling.scopes) ? calling : keys?.root;
    if (!signer) return undefined;
    const iat = Math.floor(Date.now() / 1_000);
    const claims = {
      sub: environment.publicId,
      pub: true,
      scopes,
      otu: oneTime || undefined,
      realtime,
      via: signer === calling ? undefined : credentialId,
      iss: issuer,
      aud: audience,
      iat,
      exp: iat + Math.ceil(expiresInSeconds),
    };
    const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    return `${signed}.${createHmac('sha256', signer.forms[0]).update(signed).digest('base64url')}`;
  };
}
