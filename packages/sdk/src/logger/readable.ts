import { storable } from '../bounded-text.ts';
import { projectStack } from '../project-stack.ts';

/** JSON that is readable in a log. */
export type Readable = string | number | boolean | null | Readable[] | { [name: string]: Readable };

/** Values nested more deeply, or more values than this, do not fit into a log line. */
const maxDepth = 100;
const maxValues = 70_000;
/** Maximum number of bytes shown of binary data. */
const maxBytes = 100;

interface Walk {
  readonly ancestors: Set<object>;
  readonly omits: (name: string) => boolean;
  left: number;
}

/**
 * A value as JSON, including values that JSON cannot represent. A part that cannot be read is replaced by a note; other parts are
 * unaffected. Undefined for a value that JSON leaves out.
 * @param omits members with these names are omitted, at any depth
 */
export function readable(
  value: unknown,
  omits: (name: string) => boolean = () => false,
): Readable | undefined {
  return readableOf(value, { ancestors: new Set(), omits, left: maxValues });
}

/** A note that replaces a value that cannot be read. Any value may have been thrown. */
export function unreadable(thrown: unknown): string {
  let reason = '';
  try {
    reason = thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    // The thrown value could not be read either.
  }
  return storable(reason === '' ? '[unreadable]' : `[unreadable: ${reason.slice(0, 1_000)}]`);
}

function readableOf(value: unknown, walk: Walk): Readable | undefined {
  try {
    if (typeof value !== 'object' || value === null) return primitive(value);
    if (walk.ancestors.has(value)) return '[circular]';
    if (walk.ancestors.size >= maxDepth || (walk.left -= 1) < 0) return '…';
    walk.ancestors.add(value);
    try {
      return inObject(value, walk);
    } finally {
      walk.ancestors.delete(value);
    }
  } catch (thrown) {
    return unreadable(thrown);
  }
}

function primitive(value: unknown): Readable | undefined {
  switch (typeof value) {
    case 'string':
      return storable(value);
    case 'number':
      if (Object.is(value, -0)) return '-0';
      return Number.isFinite(value) ? value : `${value}`;
    case 'bigint':
      return `${value}n`;
    case 'function':
      return storable(`[function ${value.name}]`);
    case 'symbol':
      return storable(String(value));
    case 'boolean':
      return value;
    default:
      return value === null ? null : undefined;
  }
}

function inObject(value: object, walk: Walk): Readable | undefined {
  if (Array.isArray(value)) return list(value, walk);
  if (isError(value)) return error(value, walk);
  if (value instanceof Date) return Number.isNaN(value.valueOf()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return storable(String(value));
  if (value instanceof Map) return map(value, walk);
  if (value instanceof Set) return list([...(value as Set<unknown>)], walk);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return binary(value);
  if (/^\[object (?:Number|String|Boolean|BigInt|Symbol)\]$/.test(tagOf(value))) {
    const inner: unknown = value.valueOf();
    if (typeof inner !== 'object') return primitive(inner);
  }
  const response = responseOf(value);
  if (response) return members(response, walk);
  const json = jsonOf(value);
  if (json !== value) return readableOf(json, walk);
  const found = members(value, walk);
  return Object.keys(found).length > 0 || isPlain(value) ? found : label(value);
}

/** The result of the object's `toJSON`, or the object. */
function jsonOf(value: object): unknown {
  try {
    const { toJSON } = value as { toJSON?: unknown };
    return typeof toJSON === 'function' ? (toJSON.call(value, '') as unknown) : value;
  } catch {
    return value;
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** The text of an object without own fields, such as URLSearchParams, or the name of its class. */
function label(value: object): string {
  const text = String(value);
  if (text !== tagOf(value)) return storable(text);
  const { name } = value.constructor;
  return name === '' || name === 'Object' ? '{}' : storable(`[${name}]`);
}

/** Also detected by its tag: an error may come from another realm, such as a vm context. */
const isError = (value: object): value is Error =>
  value instanceof Error || tagOf(value) === '[object Error]';

function tagOf(value: object): string {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return '';
  }
}

function list(values: readonly unknown[], walk: Walk): Readable[] {
  const found: Readable[] = [];
  for (let index = 0; index < values.length && walk.left > 0; index += 1) {
    walk.left -= 1;
    found.push(read(() => values[index], walk) ?? null);
  }
  if (found.length < values.length) found.push(`… ${values.length - found.length} more`);
  return found;
}

/** A member's value, or a note if it cannot be read. */
function read(get: () => unknown, walk: Walk): Readable | undefined {
  let value: unknown;
  try {
    value = get();
  } catch (thrown) {
    return unreadable(thrown);
  }
  return readableOf(value, walk);
}

function members(
  value: object,
  walk: Walk,
  initial: Record<string, Readable> = {},
): Record<string, Readable> {
  const found = initial;
  // Symbols of class instances are internal.
  const keys = isPlain(value) ? Reflect.ownKeys(value) : Object.keys(value);
  for (const key of keys) {
    const name = typeof key === 'string' ? key : `[${String(key)}]`;
    if (walk.omits(name) || Object.hasOwn(found, name)) continue;
    if (!Object.prototype.propertyIsEnumerable.call(value, key)) continue;
    if ((walk.left -= 1) < 0) {
      found['…'] = 'more';
      break;
    }
    const member = read(() => (value as Record<PropertyKey, unknown>)[key], walk);
    if (member !== undefined) define(found, storable(name), member);
  }
  return found;
}

/** Works for the name `__proto__` as well. */
const define = (found: Record<string, Readable>, name: string, value: Readable): void =>
  void Object.defineProperty(found, name, { value, enumerable: true, writable: true, configurable: true });

/** Name, message, stack, cause and errors first, then its own fields, or the result of its `toJSON`. */
function error(value: Error, walk: Walk): Record<string, Readable> {
  const found: Record<string, Readable> = {};
  for (const name of ['name', 'message', 'stack', 'cause', 'errors'] as const) {
    if (walk.omits(name)) continue;
    const member = read(() => (value as unknown as Record<string, unknown>)[name], walk);
    if (member === undefined) continue;
    found[name] = name === 'stack' && typeof member === 'string' ? projectStack(member) : member;
  }
  const json = jsonOf(value);
  const fields = json === value ? undefined : readableOf(json, walk);
  return typeof fields === 'object' && fields !== null && !Array.isArray(fields)
    ? { ...fields, ...found }
    : members(value, walk, found);
}

function map(entries: ReadonlyMap<unknown, unknown>, walk: Walk): Readable {
  const keys = [...entries.keys()];
  // In an object, keys such as 1 and '1' would collide.
  if (!keys.every((key) => typeof key === 'string')) return list([...entries], walk);
  const found: Record<string, Readable> = {};
  for (const key of keys) {
    if (walk.omits(key)) continue;
    if ((walk.left -= 1) < 0) break;
    define(found, storable(key), readableOf(entries.get(key), walk) ?? null);
  }
  return found;
}

function binary(value: ArrayBufferView | ArrayBuffer): Readable {
  if (value instanceof DataView || value instanceof ArrayBuffer)
    return `[${value.constructor.name} of ${value.byteLength} bytes]`;
  const numbers = value as unknown as ArrayLike<number | bigint>;
  const first = Array.from({ length: Math.min(numbers.length, maxBytes) }, (_, at) => numbers[at]);
  const found = first.map((number) => primitive(number) ?? null);
  return numbers.length > maxBytes ? [...found, `… ${numbers.length - maxBytes} more`] : found;
}

/**
 * The status of a response from any library. Its fields are getters, or contain a whole connection. Headers and the query of its URL may
 * contain credentials, so they are omitted.
 */
export function responseOf(value: object): Record<string, unknown> | undefined {
  try {
    const { status, statusText, headers, url } = value as Record<string, unknown>;
    if (typeof status !== 'number' || typeof statusText !== 'string' || typeof headers !== 'object')
      return undefined;
    return { status, statusText, ...(typeof url === 'string' && url !== '' && { url: withoutQuery(url) }) };
  } catch {
    return undefined;
  }
}

const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '?…');
