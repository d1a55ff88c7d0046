/** Failures between this server and an identity provider, as detailed as users and operators need. */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';

export type OidcReason =
  /** The provider rejected the user, the code or the refresh token. */
  | 'refused'
  /** The provider did not respond, or reported that it is temporarily unavailable. */
  | 'unreachable'
  /** The provider does not accept this server as a client, or cannot be used by this server. */
  | 'misconfigured'
  /** The response does not belong to this login: its state, nonce, issuer, audience or signature does not match. */
  | 'invalid'
  /** The clocks of the provider and this server differ. */
  | 'clock';

/** `code` is an identifier such as `invalid_grant`, never a secret. */
export class OidcFailure extends Error {
  override name = 'OidcFailure';
  readonly reason: OidcReason;
  readonly code: string;

  constructor(reason: OidcReason, code: string) {
    super(`${reason}: ${code}`);
    this.reason = reason;
    this.code = code;
  }
}

/** Errors of a token request that concern the user. All others concern this server's registration. */
const refusals = new Set([
  'invalid_grant',
  'access_denied',
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
]);

const word = (text: string): string => (/^[\w.-]{1,64}$/.test(text) ? text : 'unknown');

/** The failure behind an error of `openid-client`. Its texts are dropped: they come from the provider, and may contain sent data. */
export function failureOf(error: unknown): OidcFailure {
  if (error instanceof OidcFailure) return error;
  if (error instanceof AuthorizationResponseError)
    return new OidcFailure(
      ['server_error', 'temporarily_unavailable'].includes(error.error) ? 'unreachable' : 'refused',
      word(error.error),
    );
  if (error instanceof ResponseBodyError) {
    const code = word(error.error);
    if (error.status >= 500 || error.status === 429) return new OidcFailure('unreachable', code);
    return new OidcFailure(refusals.has(code) ? 'refused' : 'misconfigured', code);
  }
  if (error instanceof WWWAuthenticateChallengeError) return new OidcFailure('misconfigured', 'challenge');
  if (error instanceof ClientError) {
    const code = error.code ?? 'unknown';
    switch (code) {
      case 'OAUTH_TIMEOUT':
      case 'OAUTH_ABORT':
      case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      case 'OAUTH_RESPONSE_IS_NOT_JSON':
      case 'OAUTH_PARSE_ERROR':
        return new OidcFailure('unreachable', code);
      case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
        return new OidcFailure('clock', code);
      case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      case 'OAUTH_MISSING_SERVER_METADATA':
      case 'OAUTH_HTTP_REQUEST_FORBIDDEN':
        return new OidcFailure('misconfigured', code);
      default:
        return new OidcFailure('invalid', word(code));
    }
  }
  // `fetch` rejects with a TypeError if there is no connection.
  if (error instanceof TypeError) return new OidcFailure('unreachable', 'fetch_failed');
  return new OidcFailure('unreachable', error instanceof Error ? word(error.name) : 'unknown');
}
