/** One HTTP request, entirely in memory. */
export interface HttpRequest {
  readonly method: string;
  /** Without a trailing slash; may have a path. */
  readonly baseURL: string;
  /** Path and query, already encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Milliseconds from the start of the request to the end of its response. */
  readonly timeoutMs: number;
}

export interface HttpReply {
  readonly status: number;
  /** By lower-case name. */
  header(name: string): string | undefined;
  readonly text: string;
}

/** Synchronous HMAC-SHA256 in base64url; missing on platforms that only sign asynchronously. */
export type SignText = (key: string, text: string) => string;

/** Sends one request once. Rejects only if no complete response arrived. */
export type Transport = (request: HttpRequest) => Promise<HttpReply>;

export const timeoutMessage = (timeoutMs: number): string => `no reply within ${timeoutMs / 1_000} s`;
