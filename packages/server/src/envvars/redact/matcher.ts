/**
 * Multi-pattern search in one pass with a rolling hash (Rabin–Karp) over windows of eight characters. A pattern is compared only where
 * a window's hash equals that of the pattern's end. The end is used because many secrets share a prefix (`sk_live_`).
 */
const width = 8;
const base = 0x01000193;
/** The factor of the character that leaves the window. */
const leaving = (() => {
  let power = 1;
  for (let count = 1; count < width; count++) power = Math.imul(power, base);
  return power;
})();
const slots = 1 << 16;

export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the spans of all patterns in a text; overlapping and adjacent spans are merged. A long text may be searched in parts: given the
 * spans of the previous part, it adds those of patterns that end between `from` and `to`.
 */
export type FindSpans = (text: string, from?: number, to?: number, spans?: Span[]) => Span[];

/** Patterns must have at least eight characters. */
export function compile(patterns: Iterable<string>): FindSpans {
  const seen = new Uint8Array(slots);
  const byHash = new Map<number, string[]>();
  for (const pattern of patterns) {
    if (pattern.length < width) throw new RangeError('a pattern has eight characters or more');
    let hash = 0;
    for (let at = pattern.length - width; at < pattern.length; at++) {
      hash = (Math.imul(hash, base) + pattern.charCodeAt(at)) | 0;
    }
    seen[hash & (slots - 1)] = 1;
    const others = byHash.get(hash);
    if (others) others.push(pattern);
    else byHash.set(hash, [pattern]);
  }
  // Longest first: it covers the others that end at the same position.
  for (const others of byHash.values()) others.sort((first, second) => second.length - first.length);

  return (text, from = 0, to = text.length, spans = []) => {
    let hash = 0;
    const first = Math.max(0, from - width + 1);
    const firstEnd = first + width - 1;
    let at = first;
    for (; at < firstEnd && at < to; at++) hash = (Math.imul(hash, base) + text.charCodeAt(at)) | 0;
    for (; at < to; at++) {
      const whole = (Math.imul(hash, base) + text.charCodeAt(at)) | 0;
      hash = (whole - Math.imul(text.charCodeAt(at - width + 1), leaving)) | 0;
      if (seen[whole & (slots - 1)] === 0) continue;
      const end = at + 1;
      const found = byHash
        .get(whole)
        ?.find((pattern) => pattern.length <= end && text.startsWith(pattern, end - pattern.length));
      if (found === undefined) continue;
      let start = end - found.length;
      for (let last = spans.at(-1); last !== undefined && last.to >= start; last = spans.at(-1)) {
        start = Math.min(start, last.from);
        spans.pop();
      }
      spans.push({ from: start, to: end });
    }
    return spans;
  };
}
