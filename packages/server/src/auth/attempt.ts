/** Credentials of attempts: JWTs signed by a runner with its key, valid while the attempt holds its lease. */
import { attemptAudience, attemptMarker } from '@millrace/contract/runner';
import { jwtVerify } from 'jose';
import type { Sql } from '../db/connect.ts';
import { Problem, unauthorized } from '../problem.ts';
import { attemptHasLease } from './credential-rows.ts';
import type { Environment, Principal } from './principal.ts';
import type { Loaded } from './lookup-cache.ts';
import { claimsOf, findSigner } from './find-signer.ts';
import type { SigningKeyRing } from './signing-keys.ts';

/** The same message for every reason. */
const over = () =>
  unauthorized(
    'The credential of this run is no longer valid: its attempt has ended, or its key was revoked',
  );

/** An attempt has its runner's permissions, in its own environment or branch. Throws a 401 Problem once the attempt has ended. */
export async function verifyAttempt(
  ring: SigningKeyRing,
  sql: Sql,
  credential: string,
  branch: string | undefined,
): Promise<Loaded<Principal>> {
  const token = credential.slice(attemptMarker.length);
  const claims = claimsOf(token);
  const signed = claims?.aud === attemptAudience ? await findSigner(ring, token, claims) : undefined;
  // Runners sign with secret keys. The server's own key signs no attempts.
  if (!signed || signed.key.isServers) throw over();
  const { keys, key, form, asOf } = signed;
  const nowMs = keys.now();
  const { payload } = await jwtVerify(token, form, {
    currentDate: new Date(nowMs),
    algorithms: ['HS256'],
    audience: attemptAudience,
    requiredClaims: ['sub', 'exp'],
  }).catch(() => {
    throw over();
  });
  const { run, fence, exp = 0 } = payload;
  if (typeof run !== 'string' || typeof fence !== 'number' || !Number.isSafeInteger(fence)) throw over();
  const { environment } = keys;
  if (!(await attemptHasLease(sql, environment.id, run, fence))) throw over();
  refuseOtherBranch(environment, branch);
  return {
    value: {
      kind: 'secretKey',
      credentialId: key.credentialId,
      environment,
      scopes: key.scopes,
      attempt: { run, fence },
      // The runner renews the credential, so only the key's expiry matters.
      ...(key.expiresAt && { expiresAt: key.expiresAt }),
    },
    asOf,
    endsInMs: exp * 1_000 - nowMs,
  };
}

/** A run belongs to one branch, so a request for another branch must not affect the run's own. */
function refuseOtherBranch({ kind, branch: own }: Environment, requested: string | undefined): void {
  if (requested === undefined || kind === 'prod' || kind === 'stg') return;
  if (requested === own || (own === null && requested === 'default')) return;
  throw new Problem(
    'unauthorized',
    `The credential of a run is valid only for its own branch, not for "${requested.slice(0, 100)}": use a secret key for this call`,
  );
}
