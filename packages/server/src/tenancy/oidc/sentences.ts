import { Problem } from '../../problem.ts';
import { clockToleranceSeconds } from './settings.ts';
import type { OidcFailure } from './failure.ts';

const again = 'Start again from the login page.';

/** The message for the reader about a failed login. */
export function sentenceOf({ reason, code }: OidcFailure): Problem {
  switch (code) {
    case 'no_login':
      return new Problem(
        'login_expired',
        `This login was already finished, took longer than ten minutes, or was started in another browser. ${again}`,
      );
    case 'no_group':
      return new Problem(
        'login_refused',
        'None of your groups has a role here. Ask an administrator to add you to a group that has one.',
      );
    case 'no_refresh_token':
      return new Problem(
        'identity_provider_failed',
        'The identity provider did not issue a refresh token, which this server needs to detect when you leave. An administrator must allow refresh tokens (offline access) for this client.',
      );
    case 'no_organization':
      return new Problem(
        'unavailable',
        'The organization that MILLRACE_OIDC_ORGANIZATION names does not exist. An administrator must correct it.',
      );
    case 'invalid_grant':
      return new Problem(
        'login_expired',
        `The identity provider rejected this login: it has already been used, or took too long. ${again}`,
      );
  }
  switch (reason) {
    case 'refused':
      return new Problem('login_refused', `The identity provider refused the login (${code}).`);
    case 'unreachable':
      return new Problem(
        'unavailable',
        'The identity provider cannot be reached at the moment. Try again in a minute.',
      );
    case 'misconfigured':
      return new Problem(
        'identity_provider_failed',
        `The identity provider does not accept this server (${code}). An administrator must compare the issuer, client id and client secret with those at the provider.`,
      );
    case 'clock':
      return new Problem(
        'identity_provider_failed',
        `The clocks of the identity provider and this server differ by more than ${clockToleranceSeconds} seconds. An administrator must correct the wrong one.`,
      );
    case 'invalid':
      return new Problem(
        'login_expired',
        `The response does not belong to the login that this browser started. ${again}`,
      );
  }
}
