import { findUnkept } from './unkept.ts';
import { UnserializableError } from './unserializable-error.ts';

const maxPath = 200;
const shortened = (path: string): string => (path.length > maxPath ? `${path.slice(0, maxPath)}…` : path);

/**
 * A value as JSON text, for places that can only store JSON: metadata, completed tokens, events, stream chunks, messages. Members that are
 * `undefined` are left out, and `toJSON` methods (dates, URLs) are applied. Any other value that JSON would drop or change throws an
 * UnserializableError that names its path. Undefined for `undefined`.
 * @param what first word of the path: `metadata`, `event`
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

/** The value after a round trip through JSON. */
export function asJson<T>(value: T, what: string): T {
  const text = jsonText(value, what);
  return (text === undefined ? undefined : JSON.parse(text)) as T;
}
