import { isDeepStrictEqual } from 'node:util';
import type { OptionChange } from '@millrace/contract';

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The differences between two JSON objects, by the paths of their members in alphabetical order. A member that only one of them has is one
 * difference, and so is a list. The order of members makes no difference.
 */
export function optionChanges(before: Members, after: Members, path = ''): OptionChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names.flatMap((name) => {
    const field = path === '' ? name : `${path}.${name}`;
    const [old, next] = [valueOf(before, name), valueOf(after, name)];
    if (isObject(old) && isObject(next)) return optionChanges(old, next, field);
    if (isDeepStrictEqual(old, next)) return [];
    return [{ field, ...(old !== undefined && { before: old }), ...(next !== undefined && { after: next }) }];
  });
}

const valueOf = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined;
