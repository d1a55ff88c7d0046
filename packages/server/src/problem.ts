/**
 * The error model. A verb that cannot do what it was asked throws a Problem: it becomes the status and body of
 * `http/problem.ts`. Anything else that is thrown is a fault of ours: logged whole, answered 500 with a request id.
 */
import { DatabaseLost, UnstorableText } from './db/errors.ts';

export interface Detail {
  readonly code: string;
  readonly message: string;
  readonly path?: readonly string[];
}

export class Problem extends Error {
  override name = 'Problem';
  readonly status: number;
  /** Fields beside `error` in the body: `code`, `details`, `variableErrors`, … */
  readonly extra: Readonly<Record<string, unknown>>;
  /** `x-should-retry`: whether a client may repeat the call. Default: the status decides. */
  readonly retry: boolean | undefined;

  constructor(status: number, message: string, extra: Record<string, unknown> = {}, retry?: boolean) {
    super(message);
    this.status = status;
    this.extra = extra;
    this.retry = retry;
  }
}

export const badRequest = (message: string, details?: readonly Detail[]) =>
  new Problem(400, message, details ? { details } : {});

/** The Problem that an error is to a client; undefined for a fault of ours. The database's own errors know nothing of HTTP. */
export function asProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof DatabaseLost) return new Problem(503, error.message, {}, true);
  if (error instanceof UnstorableText) return badRequest(error.message);
  return undefined;
}

/** A value that parses but cannot be accepted: tag count, unknown version, reused token. */
export const unprocessable = (message: string) => new Problem(422, message);

export const notFound = (message = 'Not found', retry = false) => new Problem(404, message, {}, retry);

/** The one body of every missing scope. */
export const forbidden = () =>
  new Problem(403, 'Unauthorized', { code: 'unauthorized', param: 'access_token', type: 'authorization' });

export const unauthorized = (message: string) => new Problem(401, message);

/** 401 for a credential that is good, but not for what it is used for: whoever sends it does not guess credentials. */
export class MisusedCredential extends Problem {
  override name = 'MisusedCredential';

  constructor(message: string) {
    super(401, message);
  }
}
