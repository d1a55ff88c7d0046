import { errorCodeHeader } from './error-codes.ts';
import { helpHeader, helpIn } from './help.ts';

/** The information in the headers of an error response, in addition to the message in its body. */
export interface FailureHeaders {
  /** The error code: one of `errorCodes`, or a code of a newer server. Undefined for responses from proxies and other servers. */
  readonly code: string | undefined;
  /** Where the documentation explains it: `docs/troubleshooting.md#not-found`. */
  readonly help: string | undefined;
}

const codePattern = /^[a-z][a-z0-9_]{1,63}$/;

/**
 * Parses the code and the help address in the headers of an error response.
 *
 * @example
 * const { code } = failureIn((name) => response.headers.get(name));
 * if (code === 'attempt_ended') return;
 */
export function failureIn(header: (name: string) => string | null | undefined): FailureHeaders {
  const code = header(errorCodeHeader);
  return { code: code && codePattern.test(code) ? code : undefined, help: helpIn(header(helpHeader)) };
}
