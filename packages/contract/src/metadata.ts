import type { MetadataOperation } from './operations/runs-change.ts';

/** Metadata of a run: plain JSON. */
export type Metadata = Record<string, unknown>;

/**
 * Applies changes in order to a copy. A key is a member's name, or a path such as `$.a.b[0]`. Impossible changes (removing from a value
 * that is not a list) are ignored, as clients expect. Keys must have passed `refusedKey`.
 */
export function applyOperations(metadata: Metadata, operations: readonly MetadataOperation[]): Metadata {
  let changed = structuredClone(metadata);
  for (const operation of operations) changed = applyInPlace(changed, operation);
  return changed;
}

/** Like `applyOperations`, but in place; `update` returns a new object. */
export function applyInPlace(metadata: Metadata, operation: MetadataOperation): Metadata {
  if (operation.type === 'update') return structuredClone(operation.value);
  const path = pathOf(operation.key);
  const now = at(metadata, path);
  switch (operation.type) {
    case 'set':
      // A copy, because later changes must not modify the operation.
      put(metadata, path, structuredClone(operation.value));
      break;
    case 'append': {
      const value: unknown = structuredClone(operation.value);
      if (Array.isArray(now)) now.push(value);
      else put(metadata, path, now === undefined ? [value] : [now, value]);
      break;
    }
    case 'remove':
      if (Array.isArray(now)) {
        put(
          metadata,
          path,
          now.filter((item) => !isSame(item, operation.value)),
        );
      }
      break;
    case 'increment':
      put(metadata, path, (typeof now === 'number' ? now : 0) + operation.value);
      break;
    case 'delete':
      drop(metadata, path);
      break;
  }
  return metadata;
}

const forbidden = new Set(['__proto__', 'prototype', 'constructor']);
export const maxDepth = 32;
export const maxIndex = 10_000;

/** The reason why a key cannot be used; undefined if it can. */
export function refusedKey(key: string): string | undefined {
  const path = pathOf(key);
  const name = path.find((part) => typeof part === 'string' && forbidden.has(part));
  if (name !== undefined) return `"${name}" is not a valid metadata name`;
  if (path.length > maxDepth) return `a path has at most ${maxDepth} parts`;
  if (path.some((part) => typeof part === 'number' && part >= maxIndex)) {
    return `a list has at most ${maxIndex} items`;
  }
  return undefined;
}

type Path = readonly (string | number)[];

function pathOf(key: string): Path {
  if (!key.startsWith('$.')) return [key];
  return key
    .slice(2)
    .split(/\.|(?=\[\d+\])/)
    .filter((part) => part !== '')
    .map((part) => (/^\[\d+\]$/.test(part) ? Number(part.slice(1, -1)) : part));
}

type Branch = Record<string | number, unknown>;
const isBranch = (value: unknown): value is Branch => typeof value === 'object' && value !== null;

const member = (of: unknown, name: string | number): unknown =>
  isBranch(of) && Object.hasOwn(of, name) ? of[name] : undefined;

const at = (metadata: Metadata, path: Path): unknown => path.reduce<unknown>(member, metadata);

/** Creates missing objects on the path. */
function put(metadata: Metadata, path: Path, value: unknown): void {
  let branch: Branch = metadata;
  for (const [index, part] of path.entries()) {
    if (index === path.length - 1) {
      branch[part] = value;
      return;
    }
    let next = member(branch, part);
    if (!isBranch(next)) {
      next = typeof path[index + 1] === 'number' ? [] : {};
      branch[part] = next;
    }
    branch = next as Branch;
  }
}

function drop(metadata: Metadata, path: Path): void {
  const last = path.at(-1);
  const branch = at(metadata, path.slice(0, -1));
  if (last === undefined || !isBranch(branch)) return;
  if (Array.isArray(branch) && typeof last === 'number') branch.splice(last, 1);
  else delete branch[last];
}

/** Whether two JSON values are equal, regardless of the order of members. */
function isSame(first: unknown, second: unknown): boolean {
  if (!isBranch(first) || !isBranch(second)) return Object.is(first, second);
  if (Array.isArray(first) !== Array.isArray(second)) return false;
  const names = Object.keys(first);
  return (
    names.length === Object.keys(second).length &&
    names.every((name) => Object.hasOwn(second, name) && isSame(first[name], second[name]))
  );
}
