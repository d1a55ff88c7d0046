import { isStorable } from '../bounded-text.ts';
import { isPlainJson } from './plain.ts';
import { superjson } from './superjson.ts';
import { findUnkept } from './unkept.ts';
import { UnserializableError } from './unserializable-error.ts';

/** Types of payloads and outputs, as they are stored and sent. */
export type PayloadType = 'application/json' | 'application/super+json' | 'text/plain';

/** A value as text, with the type that says how to read it. */
export interface Encoded {
  /** Undefined for the value `undefined`. */
  readonly text: string | undefined;
  readonly type: PayloadType;
}

/**
 * Writes a value as text: a string as it is (where a store takes it: JSON escapes the rest), what JSON holds exactly as JSON, everything else (dates, maps, sets, bigints,
 * `undefined` inside, errors, circular and shared references …) as superjson. What superjson would drop or change (functions, symbols, instances of classes …) is refused
 * with an UnserializableError that names its path; what has a `toJSON` method is written as that says.
 * @param what named in the error, and the path's first word: `payload`, `output`
 */
export function encode(value: unknown, what: string): Encoded {
  if (value === undefined) return { text: undefined, type: 'application/json' };
  if (typeof value === 'string' && isStorable(value)) return { text: value, type: 'text/plain' };
  let refused: string;
  try {
    // A bare null would be taken for no payload at all.
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
 * Writes a value as the published SDK writes it: superjson decides. Functions and symbols are dropped, and an instance of a class becomes its
 * enumerable fields. Throws an UnserializableError where superjson throws, such as for a circle of instances.
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
