/** Size limits applied before any pattern runs, so that the cost does not grow with the size of an error. */
export const bounds = {
  name: 200,
  message: 2_048,
  stack: 16_384,
  frames: 60,
  line: 600,
  causes: 3,
  displayed: 500,
} as const;

/** Any value as text; empty if a getter or `toString` throws. */
export function textOf(value: unknown, limit: number): string {
  if (typeof value === 'string') return value.slice(0, limit);
  if (value === undefined || value === null || typeof value === 'function') return '';
  if (typeof value === 'object') {
    try {
      return jsonOf(value, limit).slice(0, limit);
    } catch {
      return '';
    }
  }
  return String(value).slice(0, limit);
}

/** JSON with bounded cost: strings are truncated, and a value with very many parts becomes the empty text. */
function jsonOf(value: object, limit: number): string {
  let left = 1_000;
  const bounded = (_key: string, part: unknown): unknown => {
    left -= 1;
    if (left < 0) throw new RangeError('too many parts');
    if (Array.isArray(part) && part.length > 200) return part.slice(0, 200);
    return typeof part === 'string' ? part.slice(0, limit) : part;
  };
  return JSON.stringify(value, bounded) ?? '';
}

/** A property of an object that may be hostile; undefined if its getter throws. */
export function propertyOf(holder: unknown, key: string): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined;
  try {
    return Object.hasOwn(holder, key) || holder instanceof Error
      ? (holder as Record<string, unknown>)[key]
      : undefined;
  } catch {
    return undefined;
  }
}

const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;
const surrogates = /[\ud800-\udfff]/;
const loneSurrogates = /\p{Surrogate}/gu;

/** Text that PostgreSQL can store: without NUL and other control characters except tab and newline, and without unpaired surrogates. */
export function storable(text: string): string {
  const printable = text.replace(controls, '');
  return surrogates.test(printable) ? printable.replace(loneSurrogates, '\ufffd') : printable;
}
