import { completeTokenThrough } from '@millrace/sdk/frontend';
import type { MillraceAuth } from './auth-context.ts';
import { useConnection } from './connection.ts';
import { useRequest } from './request.ts';

export interface WaitToken<TOutput> {
  /** Completes the token with data, which must be JSON. Never throws: a failure becomes `error`. */
  readonly complete: (output: TOutput) => void;
  /** Whether the server has not responded yet. */
  readonly isLoading: boolean;
  /** Whether this hook completed the token. */
  readonly isCompleted: boolean;
  /** Whether there is a token to complete. */
  readonly isReady: boolean;
  readonly error: Error | undefined;
}

/**
 * Completes a token that a run waits for, with the `publicAccessToken` of `wait.createToken`.
 *
 * @example
 * const { complete, isCompleted } = useWaitToken<{ approved: boolean }>(tokenId, { accessToken });
 * return <button disabled={isCompleted} onClick={() => complete({ approved: true })}>Approve</button>;
 */
export function useWaitToken<TOutput = unknown>(
  tokenId: string | undefined,
  options: MillraceAuth = {},
): WaitToken<TOutput> {
  const { send, result, isLoading, error } = useRequest(
    tokenId ?? '',
    useConnection(options),
    (client, output: TOutput) => completeTokenThrough(client, tokenId ?? '', output),
  );
  return {
    complete: send,
    isLoading,
    isCompleted: result?.success ?? false,
    isReady: Boolean(tokenId),
    error,
  };
}
