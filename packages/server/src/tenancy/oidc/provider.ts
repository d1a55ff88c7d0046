/** The client of the identity provider. */
import * as client from 'openid-client';
import { controlCharacters } from '../control-characters.ts';
import { failureOf, OidcFailure } from './failure.ts';
import { groupsIn } from './groups.ts';
import { logoutTokenReader } from './logout-token.ts';
import { clockToleranceSeconds, type OidcSettings } from './settings.ts';

/** How long the provider may take to respond. */
const timeoutSeconds = 5;
/** How long its discovery document is cached, because addresses and capabilities may change. */
const discoveryMs = 10 * 60_000;

/** The secrets of the browser that started a login. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The provider's data about a user. */
export interface ProviderUser {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  /** Undefined if the provider reports it as unverified. */
  readonly email: string | undefined;
  readonly groups: readonly string[];
  readonly refreshToken: string;
}

/** The identity of a user at the provider. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
}

export interface Provider {
  readonly settings: OidcSettings;
  /** The URL where the browser logs in, and the state for the callback. */
  begin(redirectUri: string): Promise<{ url: string; secrets: LoginSecrets }>;
  /** The user whose login ended at this callback address. */
  finish(callback: URL, secrets: LoginSecrets): Promise<ProviderUser>;
  /** The user who logged out and the time, from a token that the provider sent. */
  loggedOut(logoutToken: string): Promise<{ issuer: string; subject: string; at: Date }>;
  /** The current groups of the user, and the next refresh token. */
  refresh(
    refreshToken: string,
    of: ProviderIdentity,
  ): Promise<{ groups: readonly string[]; refreshToken: string }>;
}

type Tokens = Pick<
  client.TokenEndpointResponse & client.TokenEndpointResponseHelpers,
  'claims' | 'access_token'
>;

/** All methods reject with an `OidcFailure`. The provider is not contacted before the first login. */
export function createProvider(settings: OidcSettings): Provider {
  const readLogoutToken = logoutTokenReader();
  let known: { readonly at: number; readonly config: Promise<client.Configuration> } | undefined;

  const configured = (): Promise<client.Configuration> => {
    if (known && performance.now() - known.at < discoveryMs) return known.config;
    const found = { at: performance.now(), config: discover(settings) };
    known = found;
    // A failure is not cached.
    found.config.catch(() => {
      if (known === found) known = undefined;
    });
    return found.config;
  };

  const withConfiguration = async <T>(ask: (config: client.Configuration) => Promise<T>): Promise<T> => {
    try {
      return await ask(await configured());
    } catch (error) {
      throw failureOf(error);
    }
  };

  /** Groups that are not in the id token may be in the user info. */
  const claimsOf = async (
    config: client.Configuration,
    tokens: Tokens,
    subject: string,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const claims = tokens.claims() ?? {};
    const { userinfo_endpoint: endpoint } = config.serverMetadata();
    if (groupsIn(claims, settings.groupsClaim) !== undefined || endpoint === undefined) return claims;
    return { ...(await client.fetchUserInfo(config, tokens.access_token, subject)), ...claims };
  };

  return {
    settings,
    begin: (redirectUri) =>
      withConfiguration(async (config) => {
        const secrets = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          verifier: client.randomPKCECodeVerifier(),
        };
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: scopesFor(settings, config),
          state: secrets.state,
          nonce: secrets.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
          code_challenge_method: 'S256',
          ...refreshParameters(config),
        });
        return { url: url.href, secrets };
      }),

    finish: (callback, { state, nonce, verifier }) =>
      withConfiguration(async (config) => {
        const tokens = await client.authorizationCodeGrant(config, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const subject = tokens.claims()?.sub;
        if (subject === undefined) throw new OidcFailure('invalid', 'no_subject');
        // Without a refresh token, it could not be detected that the user has left.
        const { refresh_token: refreshToken } = tokens;
        if (refreshToken === undefined) throw new OidcFailure('misconfigured', 'no_refresh_token');
        const claims = await claimsOf(config, tokens, subject);
        return {
          issuer: config.serverMetadata().issuer,
          subject,
          name: nameIn(claims),
          email: emailIn(claims),
          groups: groupsIn(claims, settings.groupsClaim) ?? [],
          refreshToken,
        };
      }),

    loggedOut: (logoutToken) =>
      withConfiguration((config) => readLogoutToken(logoutToken, config.serverMetadata(), settings.clientId)),

    refresh: (refreshToken, { issuer, subject }) =>
      withConfiguration(async (config) => {
        // A provider never receives another provider's token.
        if (issuer !== config.serverMetadata().issuer) throw new OidcFailure('misconfigured', 'other_issuer');
        const tokens = await client.refreshTokenGrant(config, refreshToken);
        const newSubject = tokens.claims()?.sub;
        if (newSubject !== undefined && newSubject !== subject)
          throw new OidcFailure('invalid', 'other_subject');
        const claims = await claimsOf(config, tokens, subject);
        return {
          groups: groupsIn(claims, settings.groupsClaim) ?? [],
          refreshToken: tokens.refresh_token ?? refreshToken,
        };
      }),
  };
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<client.Configuration> {
  const url = new URL(issuer);
  const execute = url.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  const found = await client.discovery(url, clientId, undefined, client.None(), {
    timeout: timeoutSeconds,
    execute,
  });
  const metadata = found.serverMetadata();
  const config = new client.Configuration(
    metadata,
    clientId,
    { [client.clockTolerance]: clockToleranceSeconds },
    clientSecret === undefined ? client.None() : authentication(metadata, clientSecret),
  );
  config.timeout = timeoutSeconds;
  for (const extend of execute) extend(config);
  // The signature is verified as well, although the id token comes directly from the provider.
  client.enableNonRepudiationChecks(config);
  return config;
}

/** Some providers accept only one of the two. If none is listed, the standard prescribes Basic. */
const authentication = (
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: client.ServerMetadata,
  secret: string,
): client.ClientAuth =>
  methods.includes('client_secret_post') ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);

const isGoogle = (config: client.Configuration): boolean =>
  config.serverMetadata().issuer === 'https://accounts.google.com';

/** Google issues a refresh token only with its own parameters. */
const refreshParameters = (config: client.Configuration): Record<string, string> =>
  isGoogle(config) ? { access_type: 'offline', prompt: 'consent' } : {};

function scopesFor({ scopes }: OidcSettings, config: client.Configuration): string {
  if (scopes !== undefined) return scopes;
  const { scopes_supported: supported = [] } = config.serverMetadata();
  return [
    'openid',
    'profile',
    'email',
    ...['offline_access', 'groups'].filter((scope) => supported.includes(scope)),
  ].join(' ');
}

/** A name for the list of members, without terminal control characters. */
function nameIn({
  name,
  preferred_username: username,
  email,
  sub,
}: Readonly<Record<string, unknown>>): string {
  const text = [name, username, email, sub].find((value) => typeof value === 'string' && value.trim() !== '');
  return (
    String(text ?? 'unknown')
      .toWellFormed()
      .replace(controlCharacters, '')
      .trim()
      .slice(0, 64) || 'unknown'
  );
}

const emailIn = ({
  email,
  email_verified: isVerified,
}: Readonly<Record<string, unknown>>): string | undefined =>
  typeof email === 'string' && /^[^\s@\0]{1,64}@[^\s@\0]{1,255}$/.test(email) && isVerified !== false
    ? email
    : undefined;
