/** Results that fit into the context of a model: long texts and lists are truncated, with a note. */

export const maxCharacters = 24_000;
const maxDepth = 10;

interface Limits {
  readonly text: number;
  readonly items: number;
}

/** From large to small; the first that fits is used. */
const steps: readonly Limits[] = [
  { text: 8_000, items: 100 },
  { text: 2_000, items: 50 },
  { text: 600, items: 20 },
  { text: 200, items: 10 },
  { text: 60, items: 5 },
];

export interface Bounded {
  /** Plain JSON. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly isCut: boolean;
}

/**
 * The result as plain JSON of at most about 24,000 characters. Top-level lists keep all items, because the caller limits their length and a
 * cursor continues after the last one.
 */
export function bounded(answer: Readonly<Record<string, unknown>>): Bounded {
  const plain = JSON.parse(JSON.stringify(answer)) as Record<string, unknown>;
  let last: Bounded = { value: plain, isCut: false };
  for (const limits of steps) {
    last = cutTo(plain, limits);
    if (JSON.stringify(last.value).length <= maxCharacters) break;
  }
  return last;
}

function cutTo(plain: Readonly<Record<string, unknown>>, { text, items }: Limits): Bounded {
  let isCut = false;
  const cut = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') {
      if (value.length <= text) return value;
      isCut = true;
      return `${value.slice(0, text).toWellFormed()}… [${value.length - text} more characters]`;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth > maxDepth) {
      isCut = true;
      return '… [deeper levels]';
    }
    if (Array.isArray(value)) {
      const retained = depth <= 1 ? value : value.slice(0, items);
      if (retained.length < value.length) isCut = true;
      return retained.map((item: unknown) => cut(item, depth + 1));
    }
    const members = Object.entries(value);
    const retained = members.slice(0, Math.max(items, 40));
    if (retained.length < members.length) isCut = true;
    return Object.fromEntries(retained.map(([name, member]) => [name, cut(member, depth + 1)]));
  };
  const value = cut(plain, 0) as Record<string, unknown>;
  return { value, isCut };
}
