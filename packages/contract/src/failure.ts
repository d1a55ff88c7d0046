import { errorCodeHeader } from './error-codes.ts';
import { helpHeader, helpIn } from './help.ts';

/** What the headers of a failed reply contain, apart from the message in its body. */
export interface FailureHeaders {
  /**
   * Which failure it is: one of `errorCodes`, or one that a newer server has. Undefined for replies of proxies and other servers.
   */
  readonly code: string | undefined;
  /** Where the documentation explains it: `docs/troubleshooting.md#not-found`. */
  readonly help: string | undefined;
}

const codePattern = /^[a-z][a-z0-9_]{1,63}$/;

/**
 * Reads the code and the help of a failed reply from its headers.
 *
 * @example
 * const { code } = failureIn((name) => response.headers.get(name));
 * if (code === 'attempt_ended') return;
 */
export function failureIn(header: (name: string) => string | null | undefined): FailureHeaders {
  const code = header(errorCodeHeader);
  return { code: code && codePattern.test(code) ? code : undefined, help: helpIn(header(helpHeader)) };
}
