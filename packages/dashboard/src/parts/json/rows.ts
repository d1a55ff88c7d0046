export type Json = unknown;

/** One line of a shown JSON value. */
export type JsonRow =
  | {
      readonly kind: 'value';
      readonly path: readonly (string | number)[];
      readonly name: string | number | undefined;
      readonly depth: number;
      readonly value: Json;
      /** Only for an object or a list. */
      readonly isOpen?: boolean;
    }
  /** The rest of a long object or list. */
  | {
      readonly kind: 'more';
      readonly path: readonly (string | number)[];
      readonly depth: number;
      readonly left: number;
    };

/** Number of members shown at once; a button shows as many more. */
export const pieceSize = 100;

export const pathKey = (path: readonly (string | number)[]): string => JSON.stringify(path);

export const isContainer = (value: Json): value is object => typeof value === 'object' && value !== null;

/** The number of members of a value. Names of an object with 100,000 members are listed only when it is opened. */
export const sizeOf = (value: object): number =>
  Array.isArray(value) ? value.length : Object.keys(value).length;

export interface Opened {
  /** Paths that differ from the default of open or closed. */
  readonly toggled: ReadonlySet<string>;
  /** Number of shown pieces of a path, if more than one. */
  readonly pieces: ReadonlyMap<string, number>;
  /** Levels that are open unless toggled. */
  readonly depth: number;
}

export function isOpen(
  path: readonly (string | number)[],
  value: object,
  { toggled, depth }: Opened,
): boolean {
  // A long nested list would push later content out of sight.
  const usually = path.length < depth && (path.length === 0 || sizeOf(value) <= 20);
  return toggled.has(pathKey(path)) !== usually;
}

/** The lines of open members, in order. Closed ones cost nothing. */
export function jsonRows(root: Json, opened: Opened): readonly JsonRow[] {
  const rows: JsonRow[] = [];
  const add = (value: Json, name: string | number | undefined, path: readonly (string | number)[]): void => {
    const depth = path.length;
    if (!isContainer(value)) {
      rows.push({ kind: 'value', path, name, depth, value });
      return;
    }
    const isExpanded = isOpen(path, value, opened);
    rows.push({ kind: 'value', path, name, depth, value, isOpen: isExpanded });
    if (!isExpanded) return;
    const count = (opened.pieces.get(pathKey(path)) ?? 1) * pieceSize;
    const keys: readonly (string | number)[] = Array.isArray(value)
      ? Array.from({ length: Math.min(count, value.length) }, (_, index) => index)
      : Object.keys(value).slice(0, count);
    for (const key of keys) add((value as Record<string | number, Json>)[key], key, [...path, key]);
    const left = sizeOf(value) - keys.length;
    if (left > 0) rows.push({ kind: 'more', path, depth: depth + 1, left });
  };
  add(root, undefined, []);
  return rows;
}

/**
 * A path in code notation.
 *
 * @example pathText(['customer', 'e-mails', 0]) // 'customer["e-mails"][0]'
 */
export const pathText = (path: readonly (string | number)[]): string =>
  path
    .map((key, index) =>
      typeof key === 'string' && /^[A-Za-z_$][\w$]*$/.test(key)
        ? `${index === 0 ? '' : '.'}${key}`
        : `[${JSON.stringify(key)}]`,
    )
    .join('');

/** The same, with all parents of a path open. */
export function opening(opened: Opened, root: Json, path: readonly (string | number)[]): Opened {
  const toggled = new Set(opened.toggled);
  const pieces = new Map(opened.pieces);
  let value = root;
  for (let depth = 0; depth < path.length; depth++) {
    if (!isContainer(value)) break;
    const at = path.slice(0, depth);
    const key = pathKey(at);
    if (!isOpen(at, value, { ...opened, toggled })) {
      if (!toggled.delete(key)) toggled.add(key);
    }
    const next = path[depth] as string | number;
    const index = typeof next === 'number' ? next : Object.keys(value).indexOf(next);
    pieces.set(key, Math.max(pieces.get(key) ?? 1, Math.floor(index / pieceSize) + 1));
    value = (value as Record<string | number, Json>)[next];
  }
  return { ...opened, toggled, pieces };
}
