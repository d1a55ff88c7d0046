import type { Role } from '@millrace/contract';

/** The settings for logins with an organization's identity provider. */
export interface OidcSettings {
  /** The issuer in the provider's discovery document, such as `https://login.example.com/realms/main`. */
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** The provider's name on the login page. */
  readonly name: string;
  /** The id of the organization; undefined for the one that the installation was set up with. */
  readonly organization: string | undefined;
  /** The claim that contains the groups of a user. */
  readonly groupsClaim: string;
  /** The role that each group grants. Users with none of these groups are rejected. */
  readonly roles: ReadonlyMap<string, OidcRole>;
  /** The scopes to request; undefined to use those in the discovery document. */
  readonly scopes: string | undefined;
}

/** Only owners may appoint owners, so that the provider can neither create owners nor remove the last one. */
export type OidcRole = Exclude<Role, 'owner'>;

/** The maximum difference between the provider's clock and this server's. */
export const clockToleranceSeconds = 30;
