import { createContext, createElement, useContext, useMemo, type ReactElement, type ReactNode } from 'react';
import type { RequestRetryOptions } from '@millrace/sdk/frontend';

/** The server and the public token of a page. */
export interface MillraceAuth {
  /** Address of the Millrace server, such as `https://millrace.example.com`; may include a path prefix. */
  baseURL?: string | undefined;
  /** A public access token. Never pass a secret key: everything in a page is public. */
  accessToken?: string | undefined;
  /** The preview branch, for tokens of the preview environment. */
  previewBranch?: string | undefined;
  /** Retries of failed requests. Subscriptions reconnect regardless of them. */
  requestOptions?: { readonly retry?: RequestRetryOptions } | undefined;
  /**
   * Requests a new access token from your backend. Called when the server rejects the current token, which is usually because it has expired;
   * the hook then continues with the new one. Calls that overlap share one request.
   */
  refreshAccessToken?: (() => Promise<string>) | undefined;
}

/**
 * The server and token of the hooks below it. Options of a hook take precedence.
 *
 * @example
 * <MillraceAuthContext.Provider value={{ accessToken, baseURL }}>…</MillraceAuthContext.Provider>
 */
export const MillraceAuthContext = createContext<MillraceAuth | undefined>(undefined);
MillraceAuthContext.displayName = 'MillraceAuthContext';

/** The value of the nearest provider. Undefined without one. */
export const useMillraceAuth = (): MillraceAuth | undefined => useContext(MillraceAuthContext);

/**
 * Provides the server and token to the hooks below it. Unlike `MillraceAuthContext.Provider`, it can be used in a server component.
 *
 * @example
 * <MillraceAuthProvider accessToken={token} baseURL="https://millrace.example.com">{children}</MillraceAuthProvider>
 */
export function MillraceAuthProvider({
  children,
  baseURL,
  accessToken,
  previewBranch,
  requestOptions,
  refreshAccessToken,
}: MillraceAuth & { children?: ReactNode }): ReactElement {
  const value = useMemo(
    () => ({ baseURL, accessToken, previewBranch, requestOptions, refreshAccessToken }),
    [baseURL, accessToken, previewBranch, requestOptions, refreshAccessToken],
  );
  return createElement(MillraceAuthContext.Provider, { value }, children);
}
