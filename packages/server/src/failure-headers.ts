import { errorCodeHeader, errorCodes, type ErrorCode } from '@millrace/contract/plain';
import { helpAt, helpHeader } from '@millrace/contract/help';
import { anchorOfReply } from '@millrace/contract/troubleshooting';

/** The headers of a failed response: its code, and where the documentation explains it. */
export const failureHeaders = (
  code: ErrorCode,
  message: string,
  status: number = errorCodes[code].statuses[0],
): Readonly<Record<string, string>> => ({
  [errorCodeHeader]: code,
  [helpHeader]: helpAt(anchorOfReply(status, message)),
});
