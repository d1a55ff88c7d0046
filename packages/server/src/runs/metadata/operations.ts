import { isDeepStrictEqual } from 'node:util';
import type { MetadataOperation } from '@millrace/contract';

export type Metadata = Record<string, unknown>;

/**
 * Applies changes in their order to a copy. A key is a member's name, or `$.a.b[0]` for a place inside. What cannot be done (to
 * remove from what is no list) is left out, as clients expect. Keys must have passed `refusedKey`.
 */
export function applyOperations(metadata: Metadata, operations: readonly MetadataOperation[]): Metadata {
  let changed = structuredClone(metadata);
  for (const operation of operations) {
    if (operation.type === 'update') {
      changed = structuredClone(operation.value);
      continue;
    }
    const path = pathOf(operation.key);
    const now = at(changed, path);
    switch (operation.type) {
      case 'set':
        put(changed, path, operation.value);
        break;
      case 'append':
        put(changed, path, [...(Array.isArray(now) ? now : now === undefined ? [] : [now]), operation.value]);
        break;
      case 'remove':
        if (Array.isArray(now)) {
          put(
            changed,
            path,
            now.filter((one) => !isDeepStrictEqual(one, operation.value)),
          );
        }
        break;
      case 'increment':
        put(changed, path, (typeof now === 'number' ? now : 0) + operation.value);
        break;
      case 'delete':
        drop(changed, path);
        break;
    }
  }
  return changed;
}

const forbidden = new Set(['__proto__', 'prototype', 'constructor']);
const mostDepth = 32;
const mostIndex = 10_000;

/** Why a key cannot be used; undefined if it can. */
export function refusedKey(key: string): string | undefined {
  const path = pathOf(key);
  const name = path.find((part) => typeof part === 'string' && forbidden.has(part));
  if (name !== undefined) return `"${name}" is not a name that metadata may have`;
  if (path.length > mostDepth) return `a path has at most ${mostDepth} parts`;
  if (path.some((part) => typeof part === 'number' && part >= mostIndex)) {
    return `a list has at most ${mostIndex} items`;
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

/** Makes what is missing on the way. */
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
