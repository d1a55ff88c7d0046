import { errorCodeHeader, errorCodes, type ErrorCode } from '@millrace/contract/plain';

type Reply = Pick<Response, 'status' | 'headers' | 'url'>;

/** Throws for an error response without a listed code, or with a code of another status. Returns the code of an error response. */
export function checkedErrorCode({ status, headers, url }: Reply, body?: unknown): ErrorCode | undefined {
  // A shape protocol response that makes the client start again is not a failure.
  if (status < 400 || headers.has('electric-handle')) return undefined;
  const code = headers.get(errorCodeHeader) as ErrorCode;
  const statuses = errorCodes[code]?.statuses ?? [];
  if (!statuses.includes(status))
    throw new Error(
      `${url} replied ${status} with the error code ${code}, which has ${statuses.join(', ') || 'no entry'}.`,
    );
  const { error, code: inBody = code } = Object(body) as { error?: unknown; code?: unknown };
  // Bodies of the append protocol have a message, and codes of that protocol.
  if (error !== undefined && inBody !== code)
    throw new Error(`${url} replied with the code ${code} in its header, and another in its body.`);
  return code;
}
