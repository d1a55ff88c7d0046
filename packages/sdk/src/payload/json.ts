import { findUnkept } from './unkept.ts';
import { UnserializableError } from './unserializable-error.ts';

const maxPath = 200;
const shortened = (path: string): string => (path.length > maxPath ? `${path.slice(0, maxPath)}…` : path);

/**
 * A value as JSON text, for places that hold JSON alone: metadata, completed tokens, events, chunks of streams, messages. Members that
 * are `undefined` are left out, and what has a `toJSON` method (dates, URLs) is written as that says. Whatever else JSON would drop or
 * change is refused with an UnserializableError that names its path. Undefined for `undefined`.
 * @param what the path's first word: `metadata`, `event`
 */
export function jsonText(value: unknown, what: string): string | undefined {
  let reason: string | undefined;
  try {
    const unkept = findUnkept(value, 'json');
    if (!unkept) return JSON.stringify(value);
    reason = `${what}${shortened(unkept.path)} ${unkept.reason}`;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UnserializableError(`The ${what} cannot be serialized: ${why}`, { cause });
  }
  throw new UnserializableError(`The ${what} cannot be serialized as JSON: ${reason}.`);
}

/** As JSON brings it back. */
export function asJson<T>(value: T, what: string): T {
  const text = jsonText(value, what);
  return (text === undefined ? undefined : JSON.parse(text)) as T;
}
