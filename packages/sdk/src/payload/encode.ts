import * as superjson from 'superjson';
import { isStorable } from '../bounded-text.ts';
import { isPlainJson } from './plain.ts';

/** Types of payloads and outputs, as they are stored and sent. */
export type PayloadType = 'application/json' | 'application/super+json' | 'text/plain';

/** A value as text, with the type that says how to read it. */
export interface Encoded {
  /** Undefined for the value `undefined`. */
  readonly text: string | undefined;
  readonly type: PayloadType;
}

/** A payload or an output that no text can hold: a function, a symbol, a promise, or something that refuses to be read. */
export class UnserializableError extends Error {
  override readonly name = 'UnserializableError';
}

const isPromise = (value: unknown) => typeof (value as { then?: unknown } | null)?.then === 'function';

/**
 * Writes a value as text: a string as it is (where a store takes it: JSON escapes the rest), what JSON holds exactly as JSON, everything else (dates, maps, sets, bigints,
 * `undefined` inside, shared references …) as superjson. Functions and symbols inside an object are left out, as JSON does.
 * @param what named in the error: `payload`, `output`
 */
export function encode(value: unknown, what: string): Encoded {
  if (value === undefined) return { text: undefined, type: 'application/json' };
  if (typeof value === 'string' && isStorable(value)) return { text: value, type: 'text/plain' };
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new UnserializableError(`The ${what} is a ${typeof value}, which cannot be sent.`);
  }
  try {
    // A bare null would be taken for no payload at all.
    if (value !== null && typeof value !== 'string' && isPlainJson(value)) {
      return { text: JSON.stringify(value), type: 'application/json' };
    }
    if (isPromise(value)) throw new UnserializableError('it is a promise; await it first');
    return { text: superjson.stringify(value), type: 'application/super+json' };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UnserializableError(`The ${what} cannot be serialized: ${reason}`, { cause });
  }
}
