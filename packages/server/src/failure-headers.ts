import { errorCodeHeader, errorCodes, type ErrorCode } from '@millrace/contract/plain';
import { helpAt, helpHeader } from '@millrace/contract/help';
import { anchorOfReply } from '@millrace/contract/troubleshooting';

/**
 * Seconds after which a client should repeat a request that the server cannot serve now. A failover takes longer, but may end at any
 * moment.
 */
const retryAfterSeconds = '2';

/** The headers of a failed response: its code, a link to its documentation, and for a 503 when to repeat the request. */
export const failureHeaders = (
  code: ErrorCode,
  message: string,
  status: number = errorCodes[code].statuses[0],
): Readonly<Record<string, string>> => ({
  [errorCodeHeader]: code,
  [helpHeader]: helpAt(anchorOfReply(status, message)),
  ...(status === 503 && { 'retry-after': retryAfterSeconds }),
});
