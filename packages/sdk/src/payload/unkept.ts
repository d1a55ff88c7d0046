import type { maxJsonLevels as contractLimit } from '@millrace/contract';

const maxLevels: typeof contractLimit = 1_000;

/** `json` is JSON only; `super+json` also preserves dates, maps, sets, bigints, `undefined`, errors and circular references. */
export type Format = 'json' | 'super+json';

/** A value that a format would silently drop or change. */
export interface Unkept {
  /** The path from the top, such as `.user.callback` or `[3]`; empty for the top itself. */
  readonly path: string;
  /** The reason, such as `is a function`. */
  readonly reason: string;
}

// The typed arrays that superjson restores. Buffer is not one of them, because readers do not know that name.
const arrays = new Set<unknown>([
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
]);
/** Property names that superjson rejects, to protect the prototypes of its readers. */
const forbiddenNames = new Set(['__proto__', 'prototype', 'constructor']);

const here = (reason: string): Unkept => ({ path: '', reason });
const below = (step: string, found: Unkept | undefined): Unkept | undefined =>
  found && { path: step + found.path, reason: found.reason };

/** Member access in code notation: `.name`, or `["two words"]`. */
const step = (name: string): string =>
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;

/** The first nested value that the format does not preserve. `toJSON` methods are applied. */
export function findUnkept(
  value: unknown,
  format: Format,
  seen: Set<object> = new Set(),
): Unkept | undefined {
  if (typeof value === 'function') return here('is a function');
  if (typeof value === 'symbol') return here('is a symbol');
  if (format === 'json') {
    if (typeof value === 'bigint') return here('is a bigint: send it as a string');
    if (typeof value === 'number' && !Number.isFinite(value)) return here(`is ${value}`);
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (seen.has(value)) {
    return format === 'json' ? here('is an object that contains it: a circular reference') : undefined;
  }
  // For JSON, `seen` contains the enclosing objects. The server rejects deeper nesting, which would soon overflow the stack as well.
  if (format === 'json' && seen.size >= maxLevels) {
    return here(`is nested more than ${maxLevels} levels deep: send a flatter value`);
  }
  seen.add(value);
  const found = inObject(value, format, seen);
  // An object that appears twice is not a cycle. superjson preserves identity, so each object is checked only once.
  if (format === 'json') seen.delete(value);
  return found;
}

function inObject(value: object, format: Format, seen: Set<object>): Unkept | undefined {
  if (value instanceof Date) return Number.isNaN(value.valueOf()) ? here('is an invalid date') : undefined;
  if (typeof (value as { then?: unknown }).then === 'function') return here('is a promise: await it first');
  if (Array.isArray(value)) return inArray(value, format, seen);
  if (format === 'super+json') {
    if (value instanceof RegExp || value instanceof URL || arrays.has(value.constructor)) return undefined;
    if (value instanceof Map) return inMap(value, seen);
    if (value instanceof Set) return inList([...(value as Set<unknown>)], 'values()', seen);
    if (value instanceof Error) return below('.cause', findUnkept(value.cause, format, seen));
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return here(binary(value, format));
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return here(`is ${classOf(value)}`);
  return inRecord(value as Record<string, unknown>, format, seen);
}

function inArray(values: readonly unknown[], format: Format, seen: Set<object>): Unkept | undefined {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    // JSON would turn both into null.
    const isLost = value === undefined && (format === 'json' || !(index in values));
    const found = isLost
      ? here(index in values ? 'is undefined: send null' : 'is a hole in a sparse array')
      : findUnkept(value, format, seen);
    if (found) return below(`[${index}]`, found);
  }
  return undefined;
}

function inRecord(
  record: Readonly<Record<string, unknown>>,
  format: Format,
  seen: Set<object>,
): Unkept | undefined {
  for (const name of Object.keys(record)) {
    const isForbidden = name === '__proto__' || (format === 'super+json' && forbiddenNames.has(name));
    const found = isForbidden
      ? here('has a name that is not allowed')
      : findUnkept(record[name], format, seen);
    if (found) return below(step(name), found);
  }
  return undefined;
}

function inMap(map: ReadonlyMap<unknown, unknown>, seen: Set<object>): Unkept | undefined {
  for (const [key, value] of map) {
    const found = findUnkept(value, 'super+json', seen);
    if (found) return below(typeof key === 'string' ? `.get(${JSON.stringify(key)})` : '.values()', found);
  }
  return inList([...map.keys()], 'keys()', seen);
}

function inList(values: readonly unknown[], of: string, seen: Set<object>): Unkept | undefined {
  return below(`.${of}`, inArray(values, 'super+json', seen));
}

function binary(value: object, format: Format): string {
  const kind = classOf(value);
  return format === 'json'
    ? `is ${kind}: send it as base64 text`
    : `is ${kind}: send it as a Uint8Array, such as new Uint8Array(value)`;
}

function classOf(value: object): string {
  const { name } = (value as { constructor?: { name?: unknown } }).constructor ?? {};
  if (typeof name !== 'string' || name === '')
    return 'an instance of a class: send a plain object, such as { ...value }';
  const article = /^[AEIO]/.test(name) ? 'an' : 'a';
  if (value instanceof Error) return `${article} ${name}: send its name and message`;
  const kind = `${article} ${name}`;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return kind;
  if (value instanceof Map || value instanceof Set) return `${kind}: send an array or a plain object`;
  // Fields defined by getters, such as those of a Response, are not copied by a spread.
  const plain = Object.keys(value).length > 0 ? ', such as { ...value }' : ' with the fields that are needed';
  return `${kind}, an instance of a class: send a plain object${plain}, or give the class a toJSON method`;
}
