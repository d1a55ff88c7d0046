/**
 * Finds any of many texts in one pass, whatever their number: a hash rolls over the text in windows of eight characters, and
 * only where a window may be the end of a pattern is a pattern compared. The end, since secrets share how they begin
 * (`sk_live_`), not how they end.
 */
const width = 8;
const base = 0x01000193;
/** What the character that leaves the window has been multiplied by. */
const leaving = (() => {
  let power = 1;
  for (let count = 1; count < width; count++) power = Math.imul(power, base);
  return power;
})();
const slots = 1 << 16;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Finds where patterns are in a text; spans that meet are one. */
export type FindSpans = (text: string) => Span[];

/** Patterns must have eight characters or more. */
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
  // The longest that ends somewhere covers the others.
  for (const others of byHash.values()) others.sort((one, other) => other.length - one.length);

  return (text) => {
    const spans: { from: number; to: number }[] = [];
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      if (at >= width) hash = (hash - Math.imul(text.charCodeAt(at - width), leaving)) | 0;
      hash = (Math.imul(hash, base) + text.charCodeAt(at)) | 0;
      if (at < width - 1 || seen[hash & (slots - 1)] === 0) continue;
      const end = at + 1;
      const found = byHash
        .get(hash)
        ?.find((pattern) => pattern.length <= end && text.startsWith(pattern, end - pattern.length));
      if (found === undefined) continue;
      let from = end - found.length;
      for (let last = spans.at(-1); last !== undefined && last.to >= from; last = spans.at(-1)) {
        from = Math.min(from, last.from);
        spans.pop();
      }
      spans.push({ from, to: end });
    }
    return spans;
  };
}
