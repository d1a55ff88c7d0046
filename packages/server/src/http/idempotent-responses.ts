/**
 * Idempotent requests. A client repeats a request when its response was lost. Requests with the same
 * `x-trigger-request-idempotency-key`, caller, operation and object are executed once and get the same response.
 *
 * Operations that create runs or batches store the key with them in PostgreSQL (`requestKeyOf`), in the same statement. Responses of
 * all other operations are stored here, in this process, up to a limit: a repeated request that reaches another process, or comes after
 * a restart, is executed again. So is a request with the same key and another body, since it is a different request.
 */
import { hash } from 'node:crypto';
import type { Principal } from '../auth/principal.ts';

export const requestKeyHeader = 'x-trigger-request-idempotency-key';

/** A successful response: its body, and what the handler set. */
export interface Answer {
  readonly text: string;
  /** Default: the operation's status. */
  readonly status?: number | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

interface StoredResponse {
  readonly answer: Promise<Answer>;
  readonly until: number;
  bytes: number;
}

export const retentionMs = 24 * 3_600_000;
const maxBytes = 16 * 1024 * 1024;
/** A longer response is not stored: it would evict many others. */
const maxAnswerLength = 64 * 1024;
/** Overhead of an entry. */
const entryBytes = 300;
/** Clients send a UUID. */
const maxKeyLength = 128;

export class IdempotentResponses {
  readonly #stored = new Map<string, StoredResponse>();
  #bytes = 0;

  get size(): number {
    return this.#stored.size;
  }

  /** Acts, unless it has been done under this key: then the answer of that time. A failure is not kept. */
  once(key: string, act: () => Promise<Answer>, now = performance.now()): Promise<Answer> {
    const known = this.#stored.get(key);
    if (known && now < known.until) return known.answer;
    const entry: StoredResponse = { answer: act(), until: now + retentionMs, bytes: entryBytes + key.length };
    this.#remove(key);
    this.#stored.set(key, entry);
    this.#bytes += entry.bytes;
    entry.answer.then(
      ({ text, headers }) => {
        if (this.#stored.get(key) !== entry) return;
        if (text.length > maxAnswerLength) return this.#remove(key);
        const more = headers.reduce((sum, [name, value]) => sum + name.length + value.length, text.length);
        entry.bytes += more;
        this.#bytes += more;
        this.#evict();
      },
      () => {
        if (this.#stored.get(key) === entry) this.#remove(key);
      },
    );
    return entry.answer;
  }

  #remove(key: string): void {
    const entry = this.#stored.get(key);
    if (!entry) return;
    this.#bytes -= entry.bytes;
    this.#stored.delete(key);
  }

  /** A map keeps the order of insertion, so the oldest come first. */
  #evict(): void {
    for (const key of this.#stored.keys()) {
      if (this.#bytes <= maxBytes) return;
      this.#remove(key);
    }
  }
}

/** Identifies a repeated request; undefined if the request has no key. `target` is the part of the request that names its object. */
export function responseKey(
  operation: string,
  principal: Principal | null,
  requestKey: string | string[] | undefined,
  target: string,
): string | undefined {
  if (
    typeof requestKey !== 'string' ||
    requestKey === '' ||
    requestKey.length > maxKeyLength ||
    principal === null
  ) {
    return undefined;
  }
  const { kind, credentialId } = principal;
  const caller =
    kind === 'personalAccessToken'
      ? credentialId
      : `${principal.environment.id} ${kind === 'publicToken' ? principal.tokenDigest : credentialId}`;
  return `${operation} ${caller} ${requestKey} ${hash('sha256', target, 'base64')}`;
}

/** The response key for one body. */
export const withBody = (key: string, body: unknown): string =>
  typeof body === 'string' ? `${key} ${hash('sha256', body, 'base64')}` : key;

/** The response key as a UUID. The last twelve bits are zero: they number the objects that one request creates. */
export const requestKeyOf = (key: string): string => `${hash('sha256', key, 'hex').slice(0, 29)}000`;
