import { readable, responseOf, type Readable } from '../logger/readable.ts';

/** Names of members of a thrown object that contain credentials. */
const secret =
  /^(?:headers|rawHeaders|authorization|proxy-authorization|cookies?|set-cookie|(?:x-)?api[-_]?key|password)$/i;

/** Maximum number of getters read from one object. */
const maxGetters = 50;

/**
 * The content of a thrown object that is not an error: its fields and the values of its class's getters. For a response, its status. Headers
 * and similar data are left out, because errors are visible to everyone who can see the run.
 */
export function thrownContent(thrown: object): Readable | undefined {
  if (Array.isArray(thrown) || ArrayBuffer.isView(thrown)) return readable(thrown, omits);
  const response = responseOf(thrown);
  if (response) return readable(response);
  const content = readable(thrown, omits);
  if (Array.isArray(content)) return content;
  if (typeof content === 'object' && content !== null) return { ...gettersOf(thrown), ...content };
  const getters = gettersOf(thrown);
  return Object.keys(getters).length > 0 ? getters : content;
}

const omits = (name: string): boolean => secret.test(name);

/**
 * Values of the accessors of an object's classes. Objects are left out, because they lead to the rest of the program. Empty for an object with
 * a `toJSON` method.
 */
function gettersOf(thrown: object): Record<string, Readable> {
  const found: Record<string, Readable> = {};
  if (typeof (thrown as { toJSON?: unknown }).toJSON === 'function') return found;
  let left = maxGetters;
  for (let from: object | null = thrown; from !== null; from = Object.getPrototypeOf(from) as object | null) {
    if (from === Object.prototype) break;
    // Fields that all events have, such as the time, do not describe the failure.
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
