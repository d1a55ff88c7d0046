import { useEffect, useRef, type RefObject } from 'react';
import {
  ApiClient,
  AuthenticationError,
  ConfigurationError,
  type ClientSettings,
} from '@millrace/sdk/frontend';
import { useMillraceAuth, type MillraceAuth } from './auth-context.ts';
import { refreshOnce } from './refresh-once.ts';

/** The server and token of a hook. */
export interface Connection {
  /** Identifies the server and the token. */
  readonly key: string;
  /** Why no call can be made. */
  readonly error: Error | undefined;
  /** Calls with the current token, and again with a new one if the server rejects it and it can be refreshed. */
  readonly call: <R>(act: (client: ApiClient) => Promise<R>) => Promise<R>;
}

/** A new token that is rejected within this time would be rejected again. */
const rejectedAtOnceMs = 10_000;

/** The connection from the options of a hook, then from the context. */
export function useConnection(options: MillraceAuth = {}): Connection {
  const context = useMillraceAuth();
  const baseURL = options.baseURL ?? context?.baseURL;
  const accessToken = options.accessToken ?? context?.accessToken;
  const previewBranch = options.previewBranch ?? context?.previewBranch;
  const retry = options.requestOptions?.retry ?? context?.requestOptions?.retry;
  const refresh = useLatest(options.refreshAccessToken ?? context?.refreshAccessToken);
  const settings = { baseURL, accessToken, previewBranch, retry };
  return {
    key: JSON.stringify(settings),
    error: missing(settings),
    call: (act) => callWith(settings, act, refresh),
  };
}

/** The value of the last render, for code that runs later. */
export function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}

/** Checked here, because a client without settings would look for those of a server process. */
function missing({ baseURL, accessToken }: ClientSettings): Error | undefined {
  const name = !baseURL ? 'baseURL' : !accessToken ? 'accessToken' : undefined;
  if (name === undefined) return undefined;
  const meaning = name === 'baseURL' ? 'the address of the Millrace server' : 'a public access token';
  return new ConfigurationError(
    `Missing ${name}: pass ${meaning} to MillraceAuthContext.Provider, or to the hook as an option.`,
  );
}

async function callWith<R>(
  settings: ClientSettings,
  act: (client: ApiClient) => Promise<R>,
  refresh: RefObject<MillraceAuth['refreshAccessToken']>,
): Promise<R> {
  let client = new ApiClient(settings);
  for (let refreshedAt = Number.NEGATIVE_INFINITY; ;) {
    try {
      return await act(client);
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      const isNew = performance.now() - refreshedAt < rejectedAtOnceMs;
      if (!refresh.current || isNew) throw rejected(error, isNew);
      client = new ApiClient({ ...settings, accessToken: await refreshOnce(refresh.current) });
      refreshedAt = performance.now();
    }
  }
}

/** States the remedy, which the server does not know: it does not know where the token of the page comes from. */
const rejected = ({ message, status, code, body, help }: AuthenticationError, isNew: boolean) =>
  new AuthenticationError(
    `The server rejected the access token, which has expired, was revoked or belongs to another server (${message}). ` +
      (isNew
        ? 'refreshAccessToken returned it just now: create a new token on your server in each call.'
        : 'Create a new one on your server with auth.createPublicToken and pass it as accessToken, or pass refreshAccessToken.'),
    { status, code, body, help },
  );
