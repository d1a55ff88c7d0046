import { helpAt, withHelp } from '@millrace/contract/help';
import { foreignPage } from '@millrace/contract/plain';
import type { ErrorCode } from '@millrace/contract';
import type { Anchor } from '@millrace/contract/troubleshooting';
import type { RetryHints } from './request-retry.ts';

/** A failed request. Thrown as the subclass for its status, if there is one. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  /** HTTP status. Undefined when there was no response. */
  readonly status: number | undefined;
  /**
   * A stable code for the failure, such as `attempt_ended`, which does not change with the message. docs/error-codes.md lists the codes; a
   * newer server may send others. Undefined when the response is not from a Millrace server.
   */
  readonly code: ErrorCode | (string & {}) | undefined;
  /** The response body: the parsed JSON, otherwise the text, otherwise undefined. */
  readonly body: unknown;
  /** The invalid fields and their problems, if the server sent any. */
  readonly details: readonly ErrorDetail[];
  /** Whether the server stated that a retry cannot succeed. */
  readonly isFinal: boolean;
  /**
   * Where the documentation explains the error, such as `docs/troubleshooting.md#missing-credential`: a path in the Millrace repository. The
   * message ends with it. Undefined when the response named none, such as one from a proxy or another server.
   */
  readonly help: string | undefined;

  constructor(
    message: string,
    reply: {
      status?: number;
      code?: string | undefined;
      body?: unknown;
      cause?: unknown;
      isFinal?: boolean;
      help?: string | undefined;
    } = {},
  ) {
    super(withHelp(message, reply.help), reply.cause === undefined ? undefined : { cause: reply.cause });
    this.status = reply.status;
    this.code = reply.code;
    this.body = reply.body;
    this.isFinal = reply.isFinal ?? false;
    this.help = reply.help;
    const details = (reply.body as { details?: unknown } | null | undefined)?.details;
    this.details = Array.isArray(details) ? (details as ErrorDetail[]) : [];
  }
}

/** A field that the server did not accept. */
export interface ErrorDetail {
  readonly code: string;
  readonly message: string;
  readonly path?: readonly string[];
}

/** No response: the server cannot be reached, closed the connection, or took too long. `cause` contains the reason. */
export class ApiConnectionError extends ApiError {
  override readonly name = 'ApiConnectionError';
}
/** The server replied 2xx with a body that this SDK does not understand, usually because a different server is at that address. */
export class UnexpectedReplyError extends ApiError {
  override readonly name = 'UnexpectedReplyError';
}
/** 400: a parameter or the body is invalid; `details` names it. */
export class BadRequestError extends ApiError {
  override readonly name = 'BadRequestError';
}
/** 401: the credential is missing, unknown, expired, revoked or not valid for this operation. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
}
/** 403: the credential lacks the permission. */
export class PermissionDeniedError extends ApiError {
  override readonly name = 'PermissionDeniedError';
}
/** 404: the object does not exist in this environment. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}
/** 409: the request conflicts with the current state. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}
/** 422: the request is valid but cannot be carried out. */
export class UnprocessableEntityError extends ApiError {
  override readonly name = 'UnprocessableEntityError';
}
/** 429: too many requests, even after all retries. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}
/** 500 and above. */
export class InternalServerError extends ApiError {
  override readonly name = 'InternalServerError';
}

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

/** A request that failed permanently, before it becomes an error. */
export type Failure =
  | (RetryHints & {
      readonly status: number;
      readonly text: string;
      readonly location?: string | undefined;
      /** The error code in the response. */
      readonly code?: string | undefined;
      /** The documentation path in the response. */
      readonly help?: string | undefined;
    })
  | (RetryHints & { readonly status: undefined; readonly cause: unknown; readonly baseURL: string });

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The server's generic messages for invalid requests, for which only `details` shows the problem. */
const labels: ReadonlySet<string> = new Set(['Query Error', 'Params Error', 'Headers Error']);

function namedIn(body: unknown): string {
  const { details } = body as { details?: unknown };
  if (!Array.isArray(details) || details.length === 0) return '';
  const named = (details as ErrorDetail[]).map(({ message, path }) =>
    path && path.length > 0 ? `${message} at "${path.join('.')}"` : message,
  );
  return `: ${named.join('; ')}`;
}

function reasonOf(body: unknown, failure: { location?: string | undefined }): string {
  const error = (body as { error?: unknown } | null | undefined)?.error;
  if (typeof error === 'string') return labels.has(error) ? `${error}${namedIn(body)}` : error;
  const message = (error as { message?: unknown } | null | undefined)?.message;
  if (typeof message === 'string') return message;
  if (failure.location !== undefined)
    return `the server redirects to ${failure.location}; use that address as baseURL`;
  return typeof body === 'string' ? body.slice(0, 500) : 'status code (no body)';
}

// Node.js leaves the message empty if it tried several addresses, and puts the reasons into `errors`.
function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner: unknown = cause instanceof AggregateError ? cause.errors[0] : cause.cause;
  return cause.message || (inner instanceof Error ? inner.message : cause.name);
}

/** The error to throw for a failed request. Created where the caller awaits, so that its stack leads to the caller. */
export function errorOf(failure: Failure): ApiError {
  if (failure.status === undefined) {
    const message = `Cannot reach ${failure.baseURL}: ${causeText(failure.cause)}`;
    return new ApiConnectionError(message, {
      cause: failure.cause,
      help: helpAt('the-server-cannot-be-reached' satisfies Anchor),
    });
  }
  const { status } = failure;
  const body = parsed(failure.text);
  const page = foreignPage(status, failure.text);
  if (status < 300) {
    const message =
      page ?? `${status} with a body that is not this API's; is baseURL the address of a Millrace server?`;
    return new UnexpectedReplyError(message, {
      status,
      body,
      help: helpAt('not-a-millrace-server' satisfies Anchor),
    });
  }
  const Class = classes[status] ?? (status >= 500 ? InternalServerError : ApiError);
  const isFinal = failure.shouldRetry === 'false';
  const { code, help = page && helpAt('not-a-millrace-server' satisfies Anchor) } = failure;
  const message = page ?? `${status} ${reasonOf(body, failure)}`;
  return new Class(message, { status, code, body, isFinal, help });
}
