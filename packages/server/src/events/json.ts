import { isComposite } from '../json/levels.ts';

/** Whether two JSON values are equal, regardless of the order of members. Does not use recursion, so depth does not matter. */
export function isSameJson(first: unknown, second: unknown): boolean {
  const left: [unknown, unknown][] = [[first, second]];
  for (let pair = left.pop(); pair; pair = left.pop()) {
    const [a, b] = pair;
    if (!isComposite(a) || !isComposite(b)) {
      if (a !== b) return false;
      continue;
    }
    const names = Object.keys(a);
    if (Array.isArray(a) !== Array.isArray(b) || names.length !== Object.keys(b).length) return false;
    for (const name of names) {
      if (!Object.hasOwn(b, name)) return false;
      left.push([a[name], b[name]]);
    }
  }
  return true;
}
