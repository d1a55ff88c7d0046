import { setTimeout as sleep } from 'node:timers/promises';
import { blobPath } from '@millrace/contract/plain';
import type { Bundle } from '@millrace/contract/runner';
import { credentialHeaders } from '../runner/credential-headers.ts';
import { CannotServe } from './errors.ts';

/** The server's description of a version that can be fetched. */
export interface FetchedBundle extends Bundle {
  readonly version: string;
  /** Equal for equal content. */
  readonly contentHash: string;
}

export interface SourceOptions {
  readonly url: string;
  readonly secretKey: string;
  /** A branch of the key's environment. */
  readonly branch?: string | undefined;
  /** Aborts all requests in progress. */
  readonly signal: AbortSignal;
  /** How long to wait for an unresponsive server, in milliseconds. Default 60,000. */
  readonly patienceMs?: number;
}

const firstWait = 100;
const maxWait = 5_000;
/** Milliseconds without a byte after which a request is repeated. */
const silentMs = 15_000;

/** Fetches versions from the server. Temporary failures are retried, starting at the byte where the transfer ended. */
export class BundleSource {
  readonly #options: SourceOptions;

  constructor(options: SourceOptions) {
    this.#options = options;
  }

  async bundle(version: string): Promise<FetchedBundle> {
    let text = '';
    for await (const chunk of this.#bytes(`/runner/v1/versions/${encodeURIComponent(version)}/bundle`))
      text += Buffer.from(chunk).toString('latin1');
    return JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) as FetchedBundle;
  }

  /** A stored (compressed) blob of this size in bytes. */
  blob(version: string, blob: string, size: number): AsyncGenerator<Uint8Array> {
    return this.#bytes(blobPath(version, blob), size);
  }

  async *#bytes(path: string, size?: number): AsyncGenerator<Uint8Array> {
    const { patienceMs = 60_000, signal } = this.#options;
    let received = 0;
    let failures = 0;
    let movedAt = performance.now();
    for (;;) {
      let trouble: unknown;
      try {
        for await (const chunk of this.#request(path, size === undefined ? 0 : received)) {
          received += chunk.length;
          failures = 0;
          movedAt = performance.now();
          yield chunk;
        }
        if (size === undefined || received >= size) return;
        trouble = new Error(`the response ended after ${received} of ${size} bytes`);
      } catch (error) {
        // A description is small and is requested as a whole.
        if (error instanceof CannotServe || (size === undefined && received > 0)) throw error;
        trouble = error;
      }
      signal.throwIfAborted();
      if (performance.now() - movedAt > patienceMs) {
        throw new CannotServe(
          `the server sent no data for ${Math.round(patienceMs / 1_000)} s: ${reasonOf(trouble)}`,
        );
      }
      await sleep(Math.min(maxWait, firstWait * 2 ** failures) * (0.5 + Math.random() / 2), undefined, {
        signal,
      });
      failures += 1;
    }
  }

  /** One request. */
  async *#request(path: string, from: number): AsyncGenerator<Uint8Array> {
    const { url, signal } = this.#options;
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error('no data from the server')), silentMs);
    try {
      const response = await fetch(url.replace(/\/+$/, '') + path, {
        headers: {
          ...credentialHeaders(this.#options),
          ...(from > 0 && { range: `bytes=${from}-` }),
        },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (!response.ok) await refuse(response);
      // A server that does not support ranges starts over from the beginning.
      let skip = response.status === 206 ? 0 : from;
      for await (const chunk of response.body ?? []) {
        timer.refresh();
        const fresh = skip === 0 ? chunk : chunk.subarray(skip);
        skip = Math.max(0, skip - chunk.length);
        if (fresh.length > 0) yield fresh;
      }
    } finally {
      clearTimeout(timer);
      // If the caller stops reading, the rest is not sent.
      silence.abort();
    }
  }
}

/** Throws a CannotServe for a permanent error response, and a different error otherwise. */
async function refuse(response: Response): Promise<never> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  const message = `the server responded with ${status}: ${sentenceOf(text)}`;
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429;
  throw isFinal ? new CannotServe(message) : new Error(message);
}

function sentenceOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string') return error;
  } catch {
    // Not a response from Millrace, but from a proxy, for example.
  }
  return text.slice(0, 200);
}

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
};
