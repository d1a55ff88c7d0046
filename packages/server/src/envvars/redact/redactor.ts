import { redacted } from '@millrace/contract';
import { tryParseParts } from '../../json/foreign.ts';
import { atOnce, partLength, type InParts } from '../../json/parts.ts';
import { mayHoldKey, redactKeys, redactKeysInJson, redactKeysParts } from './key-shapes.ts';
import { compile, type FindSpans, type Span } from './matcher.ts';
import { minSecretLength, encodingsOf } from './encodings.ts';

/** Replaces the secrets of an environment, and Millrace's own credentials, in texts that are about to be stored. */
export interface Redactor {
  text(text: string): string;
  /** JSON stays valid JSON. Anything else is treated as text. */
  json(text: string): string;
  /** Redacts a long text like `json` or `text`, in parts. */
  parts(text: string, isJson: boolean): InParts<string>;
  /** A quick check: false if no string in this JSON needs redaction. */
  mayConcern(json: string): boolean;
}

/** For an environment without secrets. */
const keysOnly: Redactor = {
  text: redactKeys,
  json: redactKeysInJson,
  parts: redactKeysParts,
  mayConcern: mayHoldKey,
};

/** Values that are too short to be distinguished from ordinary words are not redacted. */
export const createRedactor = (secrets: Iterable<string>): Redactor => atOnce(compileRedactor(secrets));

/** Like `createRedactor`, in parts: an environment may have thousands of secrets. */
export function* compileRedactor(secrets: Iterable<string>): InParts<Redactor> {
  const patterns = new Set<string>();
  for (const secret of secrets) {
    for (const spelling of encodingsOf(secret)) patterns.add(spelling);
    yield;
  }
  return patterns.size === 0 ? keysOnly : redactorOf(patterns, compile(patterns));
}

function redactorOf(patterns: ReadonlySet<string>, find: FindSpans): Redactor {
  const text = (input: string): string => {
    const whole = redactKeys(input);
    const spans = find(whole);
    addCut(whole, patterns, spans);
    return spans.length === 0 ? whole : atOnce(withoutSpans(whole, spans));
  };

  function* textParts(input: string): InParts<string> {
    if (input.length <= partLength) return text(input);
    const whole = yield* redactKeysParts(input, false);
    const spans = yield* spansIn(find, whole);
    addCut(whole, patterns, spans);
    return yield* withoutSpans(whole, spans);
  }

  /** JSON that contains a secret, with the secret removed. */
  function* jsonParts(json: string): InParts<string> {
    const parsed = yield* tryParseParts(json);
    // Not JSON, or larger than this process parses.
    if (parsed === undefined) return yield* textParts(json);
    const clean = JSON.stringify(yield* valueParts(parsed, { text, textParts, size: 0 }));
    yield;
    // A secret that contains JSON syntax may span several values, in which case everything is replaced.
    return (yield* spansIn(find, clean)).length === 0 ? clean : JSON.stringify(redacted);
  }

  /** A truncated string in the JSON may end with the start of a secret. */
  const mayNeed = (json: string, { length }: readonly Span[]): boolean => length > 0 || json.includes('…');

  return {
    text,
    // The start of a truncated secret can only be found in a single text.
    mayConcern: () => true,
    json(input) {
      const whole = redactKeysInJson(input);
      return mayNeed(whole, find(whole)) ? atOnce(jsonParts(whole)) : whole;
    },
    *parts(input, isJson) {
      if (!isJson) return yield* textParts(input);
      const whole = yield* redactKeysParts(input, true);
      return mayNeed(whole, yield* spansIn(find, whole)) ? yield* jsonParts(whole) : whole;
    },
  };
}

function* spansIn(find: FindSpans, text: string): InParts<Span[]> {
  const spans: Span[] = [];
  for (let from = 0; from < text.length; from += partLength) {
    find(text, from, Math.min(text.length, from + partLength), spans);
    yield;
  }
  return spans;
}

/** Spans that are replaced in one part. */
const spansAtOnce = 1_000;

function* withoutSpans(text: string, spans: readonly Span[]): InParts<string> {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < spans.length; at += spansAtOnce) {
    const clean: string[] = [];
    for (const span of spans.slice(at, at + spansAtOnce)) {
      if (span.from >= from) clean.push(text.slice(from, span.from), redacted);
      from = Math.max(from, span.to);
    }
    parts.push(clean.join(''));
    yield;
  }
  return parts.join('') + text.slice(from);
}

interface ValueRedaction {
  readonly text: (text: string) => string;
  readonly textParts: (text: string) => InParts<string>;
  /** Characters since the last part. */
  size: number;
}

function* valueParts(value: unknown, by: ValueRedaction): InParts<unknown> {
  if (typeof value === 'string') {
    if (value.length > partLength) return yield* by.textParts(value);
    by.size += value.length + 16;
    if (by.size > partLength) {
      by.size = 0;
      yield;
    }
    return by.text(value);
  }
  if (typeof value === 'number') return by.text(String(value)) === String(value) ? value : redacted;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(yield* valueParts(item, by));
    return items;
  }
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value))
    members.push([yield* valueParts(name, by) as InParts<string>, yield* valueParts(member, by)]);
  return Object.fromEntries(members);
}

/** The end of a truncated text: the marker, and how much is missing. */
const cutMark = /…(?: \(\d+ more characters\))?$/;
const maxCutMark = 64;

/** Adds the start of a pattern at the end of a truncated text. */
function addCut(text: string, patterns: ReadonlySet<string>, spans: Span[]): void {
  const tail = Math.max(0, text.length - maxCutMark);
  const mark = cutMark.exec(text.slice(tail));
  if (!mark) return;
  const to = tail + mark.index;
  let from = to;
  for (const pattern of patterns) {
    const start = pattern.slice(0, minSecretLength);
    let at = text.indexOf(start, Math.max(0, to - pattern.length));
    for (; at !== -1 && at < from; at = text.indexOf(start, at + 1)) {
      if (pattern.startsWith(text.slice(at, to))) from = at;
    }
  }
  if (from < to) spans.push({ from, to });
}
