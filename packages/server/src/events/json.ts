/*
 * Questions about JSON values that are answered without recursion: how deep the stack goes depends on who asks, and what a client sent
 * must not be able to use it up.
 */

type Composite = Readonly<Record<string, unknown>>;

const isComposite = (value: unknown): value is Composite => typeof value === 'object' && value !== null;

/** Whether objects and lists are nested in each other more than `most` times. */
export function isNestedBeyond(most: number, value: unknown): boolean {
  let level = [value].filter(isComposite);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === most) return true;
    level = level.flatMap((composite) => Object.values(composite).filter(isComposite));
  }
  return false;
}

/** Whether two JSON values are the same, in whatever order their members come. */
export function isSameJson(one: unknown, other: unknown): boolean {
  const left: [unknown, unknown][] = [[one, other]];
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
