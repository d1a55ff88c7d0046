import type { Role } from '@millrace/contract';

/** How users of an organization log in with its identity provider. */
export interface OidcSettings {
  /** As the provider's discovery document says, such as `https://login.example.com/realms/main`. */
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** What the login page calls the provider. */
  readonly name: string;
  /** The id of the organization; undefined for the one that the installation was set up with. */
  readonly organization: string | undefined;
  /** The claim that has the groups of a user. */
  readonly groupsClaim: string;
  /** The role that each group gives. Whoever has none of them is refused. */
  readonly roles: ReadonlyMap<string, OidcRole>;
  /** What is asked of the provider; undefined for what its discovery document offers. */
  readonly scopes: string | undefined;
}

/** Owners are made by owners, so that the provider can neither make nor lose the last one. */
export type OidcRole = Exclude<Role, 'owner'>;

/** How far the provider's clock and ours may differ. */
export const clockToleranceSeconds = 30;
