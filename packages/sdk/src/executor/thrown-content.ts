import { readable, responseOf, type Readable } from '../logger/readable.ts';

/** Members of a thrown object that hold credentials. */
const secret =
  /^(?:headers|rawHeaders|authorization|proxy-authorization|cookies?|set-cookie|(?:x-)?api[-_]?key|password)$/i;

/** Getters of one object. */
const maxGetters = 50;

/**
 * The content of a thrown object that is not an error: its fields, and those that its class has as getters. Of a response its status. Headers
 * and the like are left out, because errors are shown to everybody who may see the run.
 */
export function thrownContent(thrown: object): Readable | undefined {
  if (Array.isArray(thrown) || ArrayBuffer.isView(thrown)) return readable(thrown, omits);
  const response = responseOf(thrown);
  if (response) return readable(response);
  const shown = readable(thrown, omits);
  if (Array.isArray(shown)) return shown;
  if (typeof shown === 'object' && shown !== null) return { ...gettersOf(thrown), ...shown };
  const getters = gettersOf(thrown);
  return Object.keys(getters).length > 0 ? getters : shown;
}

const omits = (name: string): boolean => secret.test(name);

/**
 * Values of the accessors of an object's classes. Objects are left out, because they lead to the rest of the program. An object with a
 * `toJSON` method has none.
 */
function gettersOf(thrown: object): Record<string, Readable> {
  const found: Record<string, Readable> = {};
  if (typeof (thrown as { toJSON?: unknown }).toJSON === 'function') return found;
  let left = maxGetters;
  for (let from: object | null = thrown; from !== null; from = Object.getPrototypeOf(from) as object | null) {
    if (from === Object.prototype) break;
    // The fields of all events, such as the time, do not describe the failure.
    const isEvent = typeof Event === 'function' && from === Event.prototype;
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
      if (!get || Object.hasOwn(found, name) || omits(name) || name === '__proto__') continue;
      if ((isEvent && name !== 'type') || name === 'isTrusted') continue;
      if ((left -= 1) < 0) return found;
      const value = valueOf(get, thrown);
      if (value !== undefined) found[name] = value;
    }
  }
  return found;
}

function valueOf(get: () => unknown, thrown: object): Readable | undefined {
  try {
    const value: unknown = get.call(thrown);
    return (typeof value === 'object' && value !== null) || typeof value === 'function'
      ? undefined
      : readable(value);
  } catch {
    return undefined;
  }
}
