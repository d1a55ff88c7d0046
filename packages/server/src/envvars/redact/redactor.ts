import { redacted } from '@millrace/contract';
import { mayHoldKey, redactKeys, redactKeysInJson } from './key-shapes.ts';
import { compile } from './matcher.ts';
import { shortestSecret, spellingsOf } from './spellings.ts';

/** Cuts the secrets of an environment, and whatever has the shape of our keys, out of what is about to be kept. */
export interface Redactor {
  text(text: string): string;
  /** JSON stays JSON. What is not JSON is treated as text. */
  json(text: string): string;
  /** False when there is nothing to cut out of any text that this JSON holds: cheap to ask. */
  mayConcern(json: string): boolean;
}

/** Of an environment that has no secrets. */
const keysOnly: Redactor = {
  text: redactKeys,
  json: redactKeysInJson,
  mayConcern: mayHoldKey,
};

/** Values that are too short to be told from ordinary words are not looked for. */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const patterns = new Set<string>();
  for (const secret of secrets) for (const spelling of spellingsOf(secret)) patterns.add(spelling);
  if (patterns.size === 0) return keysOnly;
  const find = compile(patterns);

  const text = (given: string): string => {
    const whole = redactKeys(given);
    const spans = find(whole);
    const cut = cutEnd(whole, patterns);
    if (cut) spans.push(cut);
    if (spans.length === 0) return whole;
    let result = '';
    let from = 0;
    for (const span of spans) {
      if (span.from >= from) result += whole.slice(from, span.from) + redacted;
      from = Math.max(from, span.to);
    }
    return result + whole.slice(from);
  };

  const value = (any: unknown): unknown => {
    if (typeof any === 'string') return text(any);
    if (typeof any === 'number') return text(String(any)) === String(any) ? any : redacted;
    if (Array.isArray(any)) return any.map(value);
    if (typeof any !== 'object' || any === null) return any;
    return Object.fromEntries(Object.entries(any).map(([key, member]) => [text(key), value(member)]));
  };

  return {
    text,
    // The beginning of a secret that was cut off is found in single texts only.
    mayConcern: () => true,
    json(given) {
      const whole = redactKeysInJson(given);
      if (find(whole).length === 0) return whole;
      let parsed: unknown;
      try {
        parsed = JSON.parse(whole);
      } catch {
        return text(whole);
      }
      const clean = JSON.stringify(value(parsed));
      // A secret that looks like JSON itself may lie across values: then nothing can be kept.
      return find(clean).length === 0 ? clean : JSON.stringify(redacted);
    },
  };
}

/** Where a text was cut off for its length: the mark, and how much is missing. */
const cutMark = /…(?: \(\d+ more characters\))?$/;

/** The beginning of a pattern that a cut left at the end of a text. */
function cutEnd(text: string, patterns: ReadonlySet<string>): { from: number; to: number } | undefined {
  const mark = cutMark.exec(text);
  if (!mark) return undefined;
  const to = mark.index;
  let from = to;
  for (const pattern of patterns) {
    const start = pattern.slice(0, shortestSecret);
    let at = text.indexOf(start, Math.max(0, to - pattern.length));
    for (; at !== -1 && at < from; at = text.indexOf(start, at + 1)) {
      if (pattern.startsWith(text.slice(at, to))) from = at;
    }
  }
  return from < to ? { from, to } : undefined;
}
