import { redacted } from '@millrace/contract';
import { tryParse } from '../../json/foreign.ts';
import { mayHoldKey, redactKeys, redactKeysInJson } from './key-shapes.ts';
import { compile } from './matcher.ts';
import { minSecretLength, encodingsOf } from './encodings.ts';

/** Replaces the secrets of an environment, and Millrace's own credentials, in texts that are about to be stored. */
export interface Redactor {
  text(text: string): string;
  /** JSON stays valid JSON. Anything else is treated as text. */
  json(text: string): string;
  /** A quick check: false if no string in this JSON needs redaction. */
  mayConcern(json: string): boolean;
}

/** For an environment without secrets. */
const keysOnly: Redactor = {
  text: redactKeys,
  json: redactKeysInJson,
  mayConcern: mayHoldKey,
};

/** Values that are too short to be distinguished from ordinary words are not redacted. */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const patterns = new Set<string>();
  for (const secret of secrets) for (const spelling of encodingsOf(secret)) patterns.add(spelling);
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
    // The start of a truncated secret can only be found in a single text.
    mayConcern: () => true,
    json(given) {
      const whole = redactKeysInJson(given);
      // A string in it that was cut may end with the start of a secret.
      if (find(whole).length === 0 && !whole.includes('…')) return whole;
      const parsed = tryParse(whole);
      // Not JSON, or more than this process parses.
      if (parsed === undefined) return text(whole);
      const clean = JSON.stringify(value(parsed));
      // A secret that contains JSON syntax may span several values: then replace everything.
      return find(clean).length === 0 ? clean : JSON.stringify(redacted);
    },
  };
}

/** The end of a truncated text: the mark, and how much is missing. */
const cutMark = /…(?: \(\d+ more characters\))?$/;

/** The start of a pattern at the end of a truncated text. */
function cutEnd(text: string, patterns: ReadonlySet<string>): { from: number; to: number } | undefined {
  const mark = cutMark.exec(text);
  if (!mark) return undefined;
  const to = mark.index;
  let from = to;
  for (const pattern of patterns) {
    const start = pattern.slice(0, minSecretLength);
    let at = text.indexOf(start, Math.max(0, to - pattern.length));
    for (; at !== -1 && at < from; at = text.indexOf(start, at + 1)) {
      if (pattern.startsWith(text.slice(at, to))) from = at;
    }
  }
  return from < to ? { from, to } : undefined;
}
