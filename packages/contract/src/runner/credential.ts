/**
 * The credential of an attempt: a JWT (HS256) that the runner signs with its secret key, with a marker as prefix. The code of the attempt
 * calls the API with it, only while the attempt holds its lease.
 */
export const attemptMarker = 'svc_run_';

/** The audience of these JWTs. No other kind of token has it, so they cannot be confused. */
export const attemptAudience = 'millrace:attempt';

export interface AttemptClaims {
  readonly aud: typeof attemptAudience;
  /** Public id of the environment. */
  readonly sub: string;
  readonly run: string;
  /** The fence of the attempt's lease. */
  readonly fence: number;
  /** Seconds since 1970, by the server's clock. */
  readonly iat: number;
  readonly exp: number;
}
