import { useCallback, useEffect, useRef, useState } from 'react';
import type { ApiClient } from '@millrace/sdk/frontend';
import { asError } from './as-error.ts';
import { useLatest, type Connection } from './connection.ts';

export interface RequestState<A extends readonly unknown[], R> {
  /** Sends the request. Never throws: a failure becomes `error`. */
  readonly send: (...args: A) => void;
  readonly isLoading: boolean;
  readonly result: R | undefined;
  readonly error: Error | undefined;
}

interface Sent<R> {
  readonly subject: string;
  readonly isLoading: boolean;
  readonly result?: R | undefined;
  readonly error?: Error | undefined;
}

/** A request that the user of a page sends. Its state is that of the last one for the subject. */
export function useRequest<A extends readonly unknown[], R>(
  subject: string,
  connection: Connection,
  request: (client: ApiClient, ...args: A) => Promise<R>,
): RequestState<A, R> {
  const [sent, setSent] = useState<Sent<R>>();
  const count = useRef(0);
  const isMounted = useRef(false);
  const latest = useLatest({ subject, connection, request });

  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);

  const send = useCallback(
    (...args: A): void => {
      const { subject: of, connection: to, request: act } = latest.current;
      const number = (count.current += 1);
      const show = (state: Omit<Sent<R>, 'subject'>): void => {
        if (isMounted.current && number === count.current) setSent({ subject: of, ...state });
      };
      show({ isLoading: true });
      const sending = to.error ? Promise.reject(to.error) : to.call((client) => act(client, ...args));
      sending.then(
        (result) => show({ isLoading: false, result }),
        (error: unknown) => show({ isLoading: false, error: asError(error) }),
      );
    },
    [latest],
  );
  const current = sent?.subject === subject ? sent : undefined;
  return { send, isLoading: current?.isLoading ?? false, result: current?.result, error: current?.error };
}
