import { isStorable } from '../bounded-text.ts';
import { isPlainJson } from './plain.ts';
import { superjson } from './superjson.ts';
import { findUnkept } from './unkept.ts';
import { UnserializableError } from './unserializable-error.ts';

/** Types of payloads and outputs, as stored and sent. */
export type PayloadType = 'application/json' | 'application/super+json' | 'text/plain';

/** A value as text, with the type needed to parse it. */
export interface Encoded {
  /** Undefined for the value `undefined`. */
  readonly text: string | undefined;
  readonly type: PayloadType;
}

/**
 * Serializes a value. A string is kept verbatim if every store accepts it (others are escaped as JSON). Values that JSON preserves exactly
 * become JSON. Everything else (dates, maps, sets, bigints, nested `undefined`, errors, circular and shared references …) becomes
 * superjson. Values that superjson would drop or change (functions, symbols, instances of classes …) throw an UnserializableError that
 * names their path. A `toJSON` method is applied.
 * @param what name used in the error, and first word of the path: `payload`, `output`
 */
export function encode(value: unknown, what: string): Encoded {
  if (value === undefined) return { text: undefined, type: 'application/json' };
  if (typeof value === 'string' && isStorable(value)) return { text: value, type: 'text/plain' };
  let refused: string;
  try {
    // A bare null would be interpreted as no payload at all.
    if (value !== null && typeof value !== 'string' && isPlainJson(value)) {
      return { text: JSON.stringify(value), type: 'application/json' };
    }
    const unkept = findUnkept(value, 'super+json');
    if (!unkept) return { text: superjson.stringify(value), type: 'application/super+json' };
    refused = `${what}${unkept.path} ${unkept.reason}`;
  } catch (cause) {
    throw unserializable(what, cause);
  }
  throw new UnserializableError(`The ${what} cannot be serialized: ${refused}.`);
}

/**
 * Serializes a value as the published SDK does, where superjson decides. Functions and symbols are dropped, and an instance of a class becomes
 * its enumerable fields. Throws an UnserializableError where superjson throws, such as for a cycle of instances.
 */
export function encodeLossily(value: unknown, what: string): Encoded {
  if (value === undefined) return { text: undefined, type: 'application/json' };
  if (typeof value === 'string' && isStorable(value)) return { text: value, type: 'text/plain' };
  try {
    return { text: superjson.stringify(value), type: 'application/super+json' };
  } catch (cause) {
    throw unserializable(what, cause);
  }
}

function unserializable(what: string, cause: unknown): UnserializableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new UnserializableError(`The ${what} cannot be serialized: ${reason}`, { cause });
}
