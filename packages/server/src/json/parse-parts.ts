/**
 * Parses a large JSON text in parts, so that other work can run between them. `JSON.parse` cannot be interrupted, and takes 50 to 100 ms
 * for a text of 20 MB, or for one string with ten million escapes. Therefore long strings are parsed separately, piece by piece, and the
 * rest of the text has placeholders for them.
 */
import { randomUUID } from 'node:crypto';
import {
  decodeUtf8,
  JsonScan,
  limitError,
  parseForeignJson,
  type ForeignJsonLimits,
  type StringRange,
} from '@millrace/contract/foreign-json';
import { partLength, type InParts } from './parts.ts';

/** A smaller text is parsed in one part. */
const wholeBytes = 4 * 1024 * 1024;
/** A shorter string is parsed with the rest of the text. */
const longString = 1_024;

/** For texts that have already been checked against the limits. */
const alreadyScanned: ForeignJsonLimits = { maxDepth: Infinity, maxMembers: Infinity };

/**
 * Does the same as `parseForeignJson`. In a text of more than 4 MiB, `maxEscapes` is for strings of at least 1,024 bytes; escapes in shorter
 * ones are limited to `maxShortEscapes`, whose default follows from `maxMembers`.
 */
export function* parseParts(
  bytes: Buffer,
  limits: ForeignJsonLimits,
  maxShortEscapes?: number,
): InParts<unknown> {
  const { maxBytes = Infinity } = limits;
  if (bytes.length > maxBytes) throw limitError('size', bytes, limits);
  const isWhole = bytes.length <= wholeBytes;
  const ranges = yield* scanned(bytes, limits, isWhole ? Infinity : longString);
  const strings: string[] = [];
  // Unknown to the sender, so that no string of the text can be mistaken for a placeholder.
  const mark = randomUUID();
  const pieces: Uint8Array[] = [];
  let end = 0;
  let sinceTurn = 0;
  for (const { from, to } of ranges) {
    pieces.push(bytes.subarray(end, from), Buffer.from(mark + strings.length));
    strings.push(yield* stringIn(bytes, from, to));
    end = to;
    if ((sinceTurn += to - from) < partLength) continue;
    sinceTurn = 0;
    yield;
  }
  const rest = ranges.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(end)]);
  if (!isWhole && limits.maxEscapes !== undefined)
    yield* scanned(rest, { ...limits, maxEscapes: maxShortEscapes }, Infinity);
  const text = decodeUtf8(rest);
  yield;
  const value = parseForeignJson(text, alreadyScanned);
  if (strings.length === 0) return value;
  yield;
  return withStrings(value, mark, strings);
}

/** The long strings of a text; throws if it exceeds a limit. */
function* scanned(
  bytes: Buffer,
  limits: ForeignJsonLimits,
  minLongString: number,
): InParts<readonly StringRange[]> {
  const scan = new JsonScan(limits, minLongString);
  for (let from = 0; from < bytes.length; from += partLength) {
    scan.add(bytes.subarray(from, from + partLength));
    if (scan.exceeded) throw limitError(scan.exceeded, bytes, limits);
    yield;
  }
  return scan.longStrings;
}

/** The string with these bytes as its content. */
function* stringIn(bytes: Buffer, from: number, to: number): InParts<string> {
  const parts: string[] = [];
  for (let at = from; at < to;) {
    const end = to - at <= partLength ? to : endOfPiece(bytes, at, at + partLength);
    parts.push(parseForeignJson(`"${decodeUtf8(bytes.subarray(at, end))}"`, alreadyScanned) as string);
    at = end;
    if (at < to) yield;
  }
  return parts.join('');
}

const backslash = 0x5c;
const escapeU = 0x75;
/** Length of an escape such as \u00e9. */
const maxEscapeLength = 6;

/** The last position up to `at` that is not inside a character or an escape of a string that continues there. `from` is such a position. */
function endOfPiece(bytes: Buffer, from: number, at: number): number {
  let end = at;
  while (((bytes[end] as number) & 0xc0) === 0x80) end--;
  if (isEscaped(bytes, from, end)) return end - 1;
  for (let start = end - 2; start > end - maxEscapeLength; start--) {
    const isEscape = bytes[start] === backslash && bytes[start + 1] === escapeU;
    if (isEscape && !isEscaped(bytes, from, start)) return start;
  }
  return end;
}

/** Whether the byte is preceded by an odd number of backslashes. */
function isEscaped(bytes: Buffer, from: number, at: number): boolean {
  let start = at;
  while (start > from && bytes[start - 1] === backslash) start--;
  return (at - start) % 2 === 1;
}

/** Replaces the placeholders. Its nesting does not exceed the limit of the text. */
function withStrings(value: unknown, mark: string, strings: readonly string[]): unknown {
  const isPlaceholder = (text: string): boolean => text.startsWith(mark);
  const textOf = (text: string): string =>
    isPlaceholder(text) ? (strings[Number(text.slice(mark.length))] as string) : text;
  const replaced = (inner: unknown): unknown => {
    if (typeof inner === 'string') return textOf(inner);
    if (typeof inner !== 'object' || inner === null) return inner;
    if (Array.isArray(inner)) return inner.map(replaced);
    return Object.fromEntries(
      Object.entries(inner).map(([name, member]) => [textOf(name), replaced(member)]),
    );
  };
  return replaced(value);
}
