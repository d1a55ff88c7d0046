/**
 * The error model. An operation that cannot be executed throws a Problem with a code from the contract's list, which `http/problem.ts`
 * converts to a status, a header and a body. Any other error is an internal error: it is logged in full, and the response is 500 with a
 * request id.
 */
import { errorCodes, type ErrorCode } from '@millrace/contract/plain';
import { archivedVersionMessage, DatabaseLost, isUnstorableText } from './db/errors.ts';

export interface Detail {
  readonly code: string;
  readonly message: string;
  readonly path?: readonly string[];
}

export class Problem extends Error {
  override name = 'Problem';
  readonly code: ErrorCode;
  readonly status: number;
  /** Fields next to `error` in the body: `code`, `details`, `variableErrors`, … */
  readonly extra: Readonly<Record<string, unknown>>;
  /** `x-should-retry`: whether a client may retry the call. Default: decided by the status. */
  readonly retry: boolean | undefined;

  /** @param status one of the statuses of the code. Default: the first. */
  constructor(
    code: ErrorCode,
    message: string,
    extra: Record<string, unknown> = {},
    retry?: boolean,
    status: number = errorCodes[code].statuses[0],
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.extra = extra;
    this.retry = retry;
  }
}

export const badRequest = (message: string, details?: readonly Detail[]) =>
  new Problem('invalid_request', message, details ? { details } : {});

const unstorable =
  'The request contains a NUL character or an unpaired surrogate (such as \\ud800), which cannot be stored. Remove it.';

/** The Problem that a client receives for an error; undefined for an internal error. The database's own errors are independent of HTTP. */
export function asProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof DatabaseLost) return new Problem('unavailable', error.message, {}, true);
  if (isUnstorableText(error)) return badRequest(unstorable);
  const archived = archivedVersionMessage(error);
  return archived === undefined ? undefined : unprocessable(archived, 'version_not_ready');
}

/** A value that is well-formed but cannot be accepted, such as too many tags, an unknown version, or a reused token. */
export const unprocessable = (message: string, code: ErrorCode = 'unprocessable') =>
  new Problem(code, message, {}, undefined, 422);

export const notFound = (message = 'Not found', retry = false, code: ErrorCode = 'not_found') =>
  new Problem(code, message, {}, retry);

/** The response whenever a scope is missing. `why` is a sentence about the credential, never about an object. */
export const forbidden = (why?: string) =>
  new Problem('unauthorized', why === undefined ? 'Unauthorized' : `Unauthorized: ${why}`, {
    code: 'unauthorized',
    param: 'access_token',
    type: 'authorization',
  });

export const unauthorized = (message: string) => new Problem('invalid_credential', message);

/** 401 for a valid credential that this operation does not accept. It does not count as a failed authentication. */
export class MisusedCredential extends Problem {
  override name = 'MisusedCredential';

  constructor(message: string, code: ErrorCode = 'credential_not_accepted') {
    super(code, message, {}, undefined, 401);
  }
}
