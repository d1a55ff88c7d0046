import { isAtLeast, type Body, type Operations, type OperationsOf } from '@millrace/contract';
import type { MintFor, MintPublicToken, PublicTokenOptions } from '../auth/mint.ts';
import type { Principal } from '../auth/principal.ts';
import {
  maxLifetimeByRun,
  readExpirationTime,
  refuseScopesBeyond,
  refuseScopesBeyondMember,
  refuseScopesBeyondRun,
  refuseTooMuch,
} from '../auth/public-token-request.ts';
import { parseScope } from '../auth/scopes.ts';
import { findTarget } from '../auth/target.ts';
import type { Sql } from '../db/connect.ts';
import { Problem } from '../problem.ts';
import type { HandlersOf } from '../request.ts';
import { userOf } from './principal.ts';
import { whoami, whoamiAsUser } from './whoami.ts';

const quarterHour = 900;
const hour = 3_600;

/** Session tokens last an hour, because conversations can be long. */
const defaultSeconds = (scopes: readonly string[]): number =>
  scopes.some((scope) => parseScope(scope).type === 'sessions') ? hour : quarterHour;

const signed = ({ claims = {}, expirationTime }: Body<Operations['signToken']>): PublicTokenOptions => ({
  scopes: claims.scopes ?? [],
  expiresInSeconds: (now) => readExpirationTime(expirationTime, hour, now),
  ...(claims.otu && { oneTime: true }),
  ...(claims.realtime && { realtime: claims.realtime }),
});

/** The credential that requests a token. The token ends with it. */
const through = ({ credentialId, expiresAt }: Principal): Pick<MintFor, 'credentialId' | 'expiresAt'> => ({
  credentialId,
  ...(expiresAt && { expiresAt }),
});

export function tokenHandlers({
  sql,
  mint,
}: {
  sql: Sql;
  mint: MintPublicToken;
}): HandlersOf<OperationsOf<'auth'>> {
  async function minted(caller: MintFor, options: PublicTokenOptions): Promise<{ token: string }> {
    refuseTooMuch(options.scopes);
    const token = await mint(caller, options);
    if (token === undefined)
      throw new Problem('unavailable', 'The environment is being archived. Try again.');
    return { token };
  }

  return {
    async createPublicToken({ principal, body, environment }) {
      if (principal.kind !== 'secretKey') throw new TypeError('Only a key can call this operation.');
      const { scopes, expirationTime, oneTimeUse, realtime } = body;
      if (principal.attempt) refuseScopesBeyondRun(principal.scopes, scopes);
      else refuseScopesBeyond(principal.scopes, scopes);
      return minted(
        { environment, ...through(principal) },
        {
          scopes,
          expiresInSeconds: (now) =>
            readExpirationTime(
              expirationTime,
              defaultSeconds(scopes),
              now,
              principal.attempt && maxLifetimeByRun,
            ),
          ...(oneTimeUse && { oneTime: true }),
          ...(realtime && { realtime }),
        },
      );
    },

    async signToken({ principal, body, environment }) {
      const scopes = body.claims?.scopes ?? [];
      refuseScopesBeyond(['admin'], scopes);
      return minted({ environment, ...through(principal) }, signed(body));
    },

    retrieveClaims: async ({ environment }) => ({ sub: environment.publicId, pub: true as const }),

    async signTokenAsUser(request) {
      const { principal, body, role } = request;
      const scopes = body.claims?.scopes ?? [];
      refuseScopesBeyondMember(role !== undefined && isAtLeast(role, 'admin'), scopes);
      const environment = await findTarget(sql, request);
      return minted({ environment, ...through(principal), actor: userOf(request) }, signed(body));
    },

    whoami: ({ principal }) => whoami(sql, principal),
    whoamiAsUser: (request) => whoamiAsUser(sql, userOf(request)),
  };
}
