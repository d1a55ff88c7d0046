/**
 * Answers to requests that a client may repeat because the answer was lost: a call with the same
 * `x-trigger-request-idempotency-key` by the same caller on the same operation and object is done once and answered the same again.
 *
 * What makes runs or batches keeps the key beside them in PostgreSQL (`requestKeyOf`), in the statement that makes them. Of all else
 * the answer is held here, in this process and bounded: a repetition that reaches another process, or comes after a restart, is done
 * again. So is one with another body: whoever uses a key twice means two things, and must not be told that the second was done.
 */
import { hash } from 'node:crypto';
import type { Principal } from '../auth/principal.ts';

export const requestKeyHeader = 'x-trigger-request-idempotency-key';

/** What a success answers: its body and what its handler set. */
export interface Answer {
  readonly text: string;
  /** Undefined for the operation's own. */
  readonly status?: number | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

interface Kept {
  readonly answer: Promise<Answer>;
  readonly until: number;
  bytes: number;
}

export const keepMs = 24 * 3_600_000;
const maxBytes = 16 * 1024 * 1024;
/** A longer answer is not kept: it belongs to calls that are rarely repeated, and would drive out many others. */
const maxAnswerLength = 64 * 1024;
/** What an entry costs beside its text. */
const entryBytes = 300;
/** A uuid in practice; what is longer is not one of ours. */
const maxKeyLength = 128;

export class Replays {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  get size(): number {
    return this.#kept.size;
  }

  /** Acts, unless it has been done under this key: then the answer of that time. A failure is not kept. */
  once(key: string, act: () => Promise<Answer>, now = performance.now()): Promise<Answer> {
    const known = this.#kept.get(key);
    if (known && now < known.until) return known.answer;
    const entry: Kept = { answer: act(), until: now + keepMs, bytes: entryBytes + key.length };
    this.#forget(key);
    this.#kept.set(key, entry);
    this.#bytes += entry.bytes;
    entry.answer.then(
      ({ text, headers }) => {
        if (this.#kept.get(key) !== entry) return;
        if (text.length > maxAnswerLength) return this.#forget(key);
        const more = headers.reduce((sum, [name, value]) => sum + name.length + value.length, text.length);
        entry.bytes += more;
        this.#bytes += more;
        this.#drop();
      },
      () => {
        if (this.#kept.get(key) === entry) this.#forget(key);
      },
    );
    return entry.answer;
  }

  #forget(key: string): void {
    const entry = this.#kept.get(key);
    if (!entry) return;
    this.#bytes -= entry.bytes;
    this.#kept.delete(key);
  }

  /** A map keeps the order of insertion, so the oldest come first. */
  #drop(): void {
    for (const key of this.#kept.keys()) {
      if (this.#bytes <= maxBytes) return;
      this.#forget(key);
    }
  }
}

/** What a repetition is known by; undefined for a request that names no key. `target` is what of the request says on what it acts. */
export function replayKey(
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

/** The same for one body. */
export const withBody = (key: string, body: unknown): string =>
  typeof body === 'string' ? `${key} ${hash('sha256', body, 'base64')}` : key;

/** The same as a uuid. The last twelve bits are free: they tell the things apart that one request makes. */
export const requestKeyOf = (key: string): string => `${hash('sha256', key, 'hex').slice(0, 29)}000`;
