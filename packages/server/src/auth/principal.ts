import type { EnvironmentKind, Role } from '@millrace/contract';

/** The environment of a credential. `id` is the integer in the primary keys of the hot tables. */
export interface Environment {
  readonly id: number;
  readonly publicId: string;
  readonly kind: EnvironmentKind;
  readonly branch: string | null;
  readonly projectId: number;
  readonly projectRef: string;
}

/** An attempt that holds its lease. */
export interface AttemptLease {
  readonly run: string;
  readonly fence: number;
}

interface BrowserSession {
  readonly kind: 'browser';
  /** Id of the session. */
  readonly credentialId: string;
  readonly userId: string;
  readonly expiresAt: Date;
}

/** A user, for operations on their own account: with a personal access token or a browser session. */
export type UserPrincipal =
  | {
      readonly kind: 'personalAccessToken';
      readonly credentialId: string;
      readonly userId: string;
      readonly expiresAt?: Date;
    }
  | (BrowserSession & { readonly environment?: undefined });

/** The caller. Scopes are strings such as `read:runs:run_1`; `admin` allows everything in the environment. */
export type Principal =
  | {
      readonly kind: 'secretKey';
      readonly credentialId: string;
      readonly environment: Environment;
      readonly scopes: readonly string[];
      /** When the key ends, if ever. For an attempt: its runner's key. */
      readonly expiresAt?: Date;
      /** The calling attempt, if the call comes from its code with the attempt's credential. `credentialId` is then its runner's key. */
      readonly attempt?: AttemptLease;
    }
  | {
      readonly kind: 'publicToken';
      /** The key or personal access token that created it. Revoking that credential ends the token. */
      readonly credentialId: string;
      readonly environment: Environment;
      readonly scopes: readonly string[];
      /** Identifies the token in every encoding of its signature. */
      readonly tokenDigest: string;
      /** The key that signed it: the server's own, or a client's secret key. */
      readonly signerId: string;
      /** Its own expiry, or that of the key or personal access token behind it, whichever is earlier. */
      readonly expiresAt: Date;
      /** The user on whose behalf a delegated token acts. */
      readonly actor?: string;
      /** Columns omitted from subscriptions with this token. */
      readonly realtime?: { readonly skipColumns?: readonly string[] };
      /** Set if the token ends with this attempt. */
      readonly attempt?: AttemptLease;
      /**
       * Only for a one-time token: the key under which its use is recorded. An operation that creates an object must reject a second use.
       */
      readonly oneTimeDigest?: string;
    }
  | (BrowserSession & {
      /** The environment named by the request. */
      readonly environment: Environment;
      /** The user's role in the environment's organization. */
      readonly role: Role;
      /** The permissions of the role in that environment. */
      readonly scopes: readonly string[];
    })
  | UserPrincipal;

/** Whether the caller acts as a user rather than in an environment. */
export const isUser = (principal: Principal): principal is UserPrincipal =>
  principal.kind === 'personalAccessToken' ||
  (principal.kind === 'browser' && principal.environment === undefined);

/** The user behind a credential, including the one a public token acts for; null for a key. */
export function userBehind(principal: Principal): string | null {
  if (principal.kind === 'personalAccessToken' || principal.kind === 'browser') return principal.userId;
  return principal.kind === 'publicToken' ? (principal.actor ?? null) : null;
}

/** When a caller's credential ends, in milliseconds since 1970. Credentials created with it must not outlive it. */
export const endOf = ({ expiresAt }: Principal): number => expiresAt?.getTime() ?? Infinity;
