/**
 * Idempotent requests. Clients repeat a request if its response was lost. Requests with the same `x-trigger-request-idempotency-key`,
 * caller, operation and object are executed once and get the same response.
 *
 * Operations that create runs or batches store the key with them in PostgreSQL (`requestKeyOf`), in the same statement. Responses of all
 * other operations are stored here, in this process, up to a limit: a repeated request that reaches another process, or arrives after a
 * restart, is executed again. So is a request with the same key and a different body, since it is a different request.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isUser, type Principal } from '../auth/principal.ts';

export const requestKeyHeader = 'x-trigger-request-idempotency-key';

/** A successful response: its body, and the values set by the handler. */
export interface Answer {
  readonly text: string;
  /** Default: the operation's status. */
  readonly status?: number | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export const retentionMs = 24 * 3_600_000;
const maxBytes = 16 * 1024 * 1024;
/** A longer response is not stored, because it would evict many others. */
const maxAnswerLength = 64 * 1024;
/** Overhead of an entry. */
const entryBytes = 300;
/** Clients send a UUID. */
const maxKeyLength = 128;

export class IdempotentResponses {
  readonly #stored: LRUCache<string, Promise<Answer>>;

  constructor(clock: { now(): number } = performance) {
    this.#stored = new LRUCache({
      maxSize: maxBytes,
      ttl: retentionMs,
      ttlResolution: 0,
      perf: clock,
    });
  }

  get size(): number {
    return this.#stored.size;
  }

  /** Returns the stored response for this key, or calls `act` and stores its response. Failures are not stored. */
  once(key: string, act: () => Promise<Answer>): Promise<Answer> {
    const known = this.#stored.get(key);
    if (known) return known;
    const answer = act();
    const bytes = entryBytes + key.length;
    this.#stored.set(key, answer, { size: bytes });
    const isStored = () => this.#stored.peek(key) === answer;
    answer.then(
      ({ text, headers }) => {
        if (!isStored()) return;
        // The size of an entry cannot change while it is stored.
        this.#stored.delete(key);
        if (text.length > maxAnswerLength) return;
        const size = headers.reduce(
          (sum, [name, value]) => sum + name.length + value.length,
          bytes + text.length,
        );
        this.#stored.set(key, answer, { size });
      },
      () => {
        if (isStored()) this.#stored.delete(key);
      },
    );
    return answer;
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
  const { credentialId } = principal;
  const caller = isUser(principal)
    ? credentialId
    : `${principal.environment.id} ${principal.kind === 'publicToken' ? principal.tokenDigest : credentialId}`;
  return `${operation} ${caller} ${requestKey} ${hash('sha256', target, 'base64')}`;
}

/** The response key for one body. */
export const withBody = (key: string, body: unknown): string =>
  typeof body === 'string' || body instanceof Buffer ? `${key} ${hash('sha256', body, 'base64')}` : key;

/** The response key as a UUID. The last twelve bits are zero: they number the objects that one request creates. */
export const requestKeyOf = (key: string): string => `${hash('sha256', key, 'hex').slice(0, 29)}000`;
