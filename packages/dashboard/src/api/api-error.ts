/** A failed call. `status` 0: the server was not reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The error code, one of `errorCodes`: `version_not_loaded`. */
  readonly code: string | undefined;
  /** Messages about fields, each with the field's path. */
  readonly details: readonly { readonly message: string; readonly path?: readonly string[] }[];
  /** Seconds to wait, as requested by the server. */
  readonly retryAfter: number | undefined;
  /** Where the documentation explains it. */
  readonly help: string | undefined;

  constructor(
    status: number,
    message: string,
    {
      details = [],
      retryAfter,
      code,
      help,
    }: Partial<Pick<ApiError, 'details' | 'retryAfter' | 'code' | 'help'>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter;
    this.help = help;
  }

  /** The server, or the network, is temporarily unavailable: the same call may succeed later. */
  get isOutage(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

/** A message for people about any thrown value. */
export const messageOf = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : 'The request failed without a message.';
