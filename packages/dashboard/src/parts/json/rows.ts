export type Json = unknown;

/** One line of a shown JSON value. */
export type JsonRow =
  | {
      readonly kind: 'value';
      readonly path: readonly (string | number)[];
      readonly name: string | number | undefined;
      readonly depth: number;
      readonly value: Json;
      /** Of an object or a list. */
      readonly isOpen?: boolean;
    }
  /** The rest of a long object or list. */
  | {
      readonly kind: 'more';
      readonly path: readonly (string | number)[];
      readonly depth: number;
      readonly left: number;
    };

/** Members that are shown at once; a button shows as many more. */
export const pieceSize = 100;

export const pathKey = (path: readonly (string | number)[]): string => JSON.stringify(path);

export const isContainer = (value: Json): value is object => typeof value === 'object' && value !== null;

/** How many members a value has. Names of an object of 100,000 members are listed only when it is opened. */
export const sizeOf = (value: object): number =>
  Array.isArray(value) ? value.length : Object.keys(value).length;

export interface Opened {
  /** Paths that are open, or not, against what is usual. */
  readonly toggled: ReadonlySet<string>;
  /** How many pieces of a path are shown, where it is more than one. */
  readonly pieces: ReadonlyMap<string, number>;
  /** Levels that are open unless toggled. */
  readonly depth: number;
}

export function isOpen(
  path: readonly (string | number)[],
  value: object,
  { toggled, depth }: Opened,
): boolean {
  // A long list further down would push what comes after it out of sight.
  const usually = path.length < depth && (path.length === 0 || sizeOf(value) <= 20);
  return toggled.has(pathKey(path)) !== usually;
}

/** The lines of what is open, in order. What is closed costs nothing. */
export function jsonRows(root: Json, opened: Opened): readonly JsonRow[] {
  const rows: JsonRow[] = [];
  const add = (value: Json, name: string | number | undefined, path: readonly (string | number)[]): void => {
    const depth = path.length;
    if (!isContainer(value)) {
      rows.push({ kind: 'value', path, name, depth, value });
      return;
    }
    const shown = isOpen(path, value, opened);
    rows.push({ kind: 'value', path, name, depth, value, isOpen: shown });
    if (!shown) return;
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
 * A path as code writes it.
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

const maxFound = 500;
const maxVisited = 200_000;

/** Paths of members whose name or value has the text, in any case: the first ones, in order. */
export function searchJson(root: Json, text: string): readonly (readonly (string | number)[])[] {
  const wanted = text.toLowerCase();
  const found: (readonly (string | number)[])[] = [];
  let visited = 0;
  const visit = (
    value: Json,
    name: string | number | undefined,
    path: readonly (string | number)[],
  ): void => {
    if (found.length >= maxFound || (visited += 1) > maxVisited) return;
    const isNamed = typeof name === 'string' && name.toLowerCase().includes(wanted);
    if (isNamed || (!isContainer(value) && String(value).toLowerCase().includes(wanted))) found.push(path);
    if (!isContainer(value)) return;
    if (Array.isArray(value)) value.forEach((one, index) => visit(one, index, [...path, index]));
    else for (const [key, one] of Object.entries(value)) visit(one, key, [...path, key]);
  };
  visit(root, undefined, []);
  return found;
}

/** The same, with everything open that leads to a path. */
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
