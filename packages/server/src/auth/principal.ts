import type { EnvironmentKind } from '@millrace/contract';

/** The environment a credential stands for. `id` is the integer that leads the keys of the hot tables. */
export interface Environment {
  readonly id: number;
  readonly publicId: string;
  readonly kind: EnvironmentKind;
  readonly branch: string | null;
  readonly projectId: number;
  readonly projectRef: string;
}

/** Who is calling. Scopes are texts such as `read:runs:run_1`; `admin` alone is everything in the environment. */
export type Principal =
  | {
      readonly kind: 'secretKey';
      readonly credentialId: string;
      readonly environment: Environment;
      readonly scopes: readonly string[];
      /** When the key ends, if it does: for an attempt, the key of its runner. */
      readonly expiresAt?: Date;
      /** It is code of this attempt that calls, with the credential of the attempt. The key is the one that its runner has. */
      readonly attempt?: { readonly run: string; readonly fence: number };
    }
  | {
      readonly kind: 'publicToken';
      /** The key or personal access token through which it came to be; revoking that one ends it. */
      readonly credentialId: string;
      readonly environment: Environment;
      readonly scopes: readonly string[];
      /** One for each token, whatever the spelling of its signature. */
      readonly tokenDigest: string;
      /** The key that signed it: the server's own, or the secret key of a client. */
      readonly signerId: string;
      /** Its own end, or that of a key or personal access token that it ends with. */
      readonly expiresAt: Date;
      /** The user on whose behalf a delegated token acts. */
      readonly actor?: string;
      /** Columns that live subscriptions made with it leave out. */
      readonly realtime?: { readonly skipColumns?: readonly string[] };
      /** Only for a one-time token: what its use is recorded under. A verb that creates something must refuse a second use. */
      readonly oneTimeDigest?: string;
    }
  | {
      readonly kind: 'personalAccessToken';
      readonly credentialId: string;
      readonly userId: string;
      readonly expiresAt?: Date;
    };

/** When a caller's credential ends, in milliseconds since 1970: what is made through it must not outlive it. */
export const endOf = ({ expiresAt }: Principal): number => expiresAt?.getTime() ?? Infinity;
