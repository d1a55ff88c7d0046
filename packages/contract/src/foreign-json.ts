/** Parses JSON from untrusted sources. Its size, depth and number of values are checked before `JSON.parse` builds anything. */
import { escapesPerMember, maxJsonLevels, maxJsonMembers } from './json.ts';

export interface ForeignJsonLimits {
  /** In UTF-8. Default: unlimited, for texts whose size is already limited. */
  readonly maxBytes?: number;
  /** Levels of objects and lists. Default: `maxJsonLevels`. */
  readonly maxDepth?: number;
  /** Each member of an object counts as one, and so do each object, each list and four items of a list. Default: `maxJsonMembers`. */
  readonly maxMembers?: number;
  /** Escapes such as `\\n` in strings. They share the limit with the members: half of both is allowed. Default: 16 for each member. */
  readonly maxEscapes?: number;
}

export type ForeignJsonReason = 'syntax' | 'depth' | 'members' | 'size';

/** The message is a sentence for the sender of the text. It contains no part of the text except names of members. */
export class ForeignJsonError extends Error {
  override readonly name = 'ForeignJsonError';
  readonly reason: ForeignJsonReason;
  /** The first names on the path to the object or list that exceeds `depth` or `members`: `payload.items.0`. Empty if unknown. */
  readonly path: string;

  constructor(reason: ForeignJsonReason, message: string, path = '') {
    super(message);
    this.reason = reason;
    this.path = path;
  }
}

/**
 * Parses a JSON text within limits. Throws a `ForeignJsonError`. The time is linear in the length of the text.
 *
 * @example
 * const message = parseForeignJson(line, { maxBytes: 1_048_576, maxDepth: 64, maxMembers: 10_000 });
 */
export function parseForeignJson(text: string | Uint8Array, limits: ForeignJsonLimits): unknown {
  const exceeded = exceededLimit(text, limits);
  if (exceeded) throw limitError(exceeded, text, limits);
  try {
    return JSON.parse(decodeUtf8(text)) as unknown;
  } catch (error) {
    throw error instanceof ForeignJsonError ? error : new ForeignJsonError('syntax', 'Invalid JSON');
  }
}

/** The limit that a JSON text exceeds first; undefined if it is within all of them. Does not check whether it is valid JSON. */
export function exceededLimit(
  text: string | Uint8Array,
  limits: ForeignJsonLimits,
): Exclude<ForeignJsonReason, 'syntax'> | undefined {
  const { maxBytes = Infinity } = limits;
  // A text never has more characters than bytes.
  if (text.length > maxBytes) return 'size';
  const scan = new JsonScan(limits);
  const isCounted = !scan.admitsAny(text.length);
  if (typeof text !== 'string') {
    if (isCounted) scan.add(text);
  } else if (isCounted || text.length * maxBytesPerUnit > maxBytes) {
    return scanText(scan, text, maxBytes) ? 'size' : scan.exceeded;
  }
  return scan.exceeded;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
/** Maps `[` to `{` and `]` to `}`. No other character of JSON is mapped to them. */
const withoutShape = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/**
 * An item of a list costs far less than a member of an object, whose name V8 stores. Members are counted in quarters: an object with n members has
 * 4n + 3, and a list with n items n + 3. Escapes make strings expensive to parse, and more so to write again.
 */
const perMember = 4;
const costOf = { comma: 1, colon: 3, opening: 4 } as const;

/** In quarters of a member. */
const escapeCost = (maxMembers: number, maxEscapes = escapesPerMember * maxMembers): number =>
  maxMembers === Infinity ? 0 : (perMember * maxMembers) / maxEscapes;

/** The position of a string's content, in bytes of the text. `to` is the index of the closing quote. */
export interface StringRange {
  readonly from: number;
  readonly to: number;
}

/** The end of a string is searched for with `indexOf` only after this many bytes, because that costs more than reading a short one. */
const shortString = 32;

/**
 * Counts depth and values of a JSON text that arrives in pieces, in constant memory. For invalid JSON the counts have no meaning, but
 * `JSON.parse` cannot build more from it either.
 */
export class JsonScan {
  readonly #maxDepth: number;
  readonly #maxMembers: number;
  readonly #escapeCost: number;
  readonly #minLongString: number;
  /** Bytes before the current piece. */
  #offset = 0;
  #stringFrom = 0;
  #depth = 0;
  #members = 0;
  #isInString = false;
  /** The piece ended with a backslash inside a string, so the next byte is escaped. */
  #isEscaping = false;
  /** Index of the last backslash that `indexOf` found in the piece; -1 before the first search. */
  #nextBackslash = -1;
  /** The limit that was exceeded first. */
  exceeded: 'depth' | 'members' | undefined;
  /** The strings of at least `minLongString` bytes, including names of members. */
  readonly longStrings: StringRange[] = [];

  /** @param minLongString by default no string is recorded */
  constructor(
    { maxDepth = maxJsonLevels, maxMembers = maxJsonMembers, maxEscapes }: ForeignJsonLimits,
    minLongString = Infinity,
  ) {
    this.#minLongString = minLongString;
    this.#maxDepth = maxDepth;
    this.#maxMembers = perMember * maxMembers;
    this.#escapeCost = escapeCost(maxMembers, maxEscapes);
  }

  /** Whether no JSON text of this length can exceed a limit. */
  admitsAny(length: number): boolean {
    return length <= 2 * this.#maxDepth && costOf.opening * length <= this.#maxMembers;
  }

  add(bytes: Uint8Array): void {
    if (this.exceeded) return;
    this.#nextBackslash = -1;
    const maxDepth = this.#maxDepth;
    let depth = this.#depth;
    let members = 0;
    let at = this.#isInString ? this.#endOfString(bytes, 0) + 1 : 0;
    let left = this.#maxMembers - this.#members;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === quote) {
        this.#stringFrom = this.#offset + at + 1;
        at = this.#endOfString(bytes, at + 1);
        left = this.#maxMembers - this.#members;
        if (members > left) break;
      } else if (byte === comma) {
        if ((members += costOf.comma) > left) break;
      } else if (byte === colon) {
        if ((members += costOf.colon) > left) break;
      } else if ((byte | withoutShape) === opening) {
        if (++depth > maxDepth || (members += costOf.opening) > left) break;
      } else if ((byte | withoutShape) === closing) {
        depth--;
      }
    }
    this.#offset += bytes.length;
    this.#depth = depth;
    this.#members += members;
    if (depth > maxDepth) this.exceeded = 'depth';
    else if (this.#members > this.#maxMembers) this.exceeded = 'members';
  }

  /** The index of the quote that ends the string that continues at `from`; the length if it continues in the next piece. */
  #endOfString(bytes: Uint8Array, from: number): number {
    let at = this.#isEscaping ? from + 1 : from;
    let escapes = 0;
    let nextQuote = -1;
    this.#isEscaping = false;
    this.#isInString = true;
    while (this.#isInString && at < bytes.length) {
      const near = Math.min(bytes.length, at + shortString);
      while (this.#isInString && at < near) {
        const byte = bytes[at] as number;
        if (byte === quote) this.#isInString = false;
        else if (byte === backslash) {
          escapes++;
          at += 2;
        } else at++;
      }
      if (!this.#isInString || at >= bytes.length) break;
      // Searched again only beyond the last position found, so that the piece is read only once.
      if (nextQuote < at) nextQuote = indexOrEnd(bytes, quote, at);
      if (this.#nextBackslash < at) this.#nextBackslash = indexOrEnd(bytes, backslash, at);
      at = Math.min(nextQuote, this.#nextBackslash);
    }
    this.#members += escapes * this.#escapeCost;
    this.#isEscaping = at > bytes.length;
    const to = this.#offset + at;
    if (!this.#isInString && to - this.#stringFrom >= this.#minLongString)
      this.longStrings.push({ from: this.#stringFrom, to });
    return Math.min(at, bytes.length);
  }
}

function indexOrEnd(bytes: Uint8Array, byte: number, from: number): number {
  const found = bytes.indexOf(byte, from);
  return found === -1 ? bytes.length : found;
}

/** The maximum number of UTF-8 bytes per UTF-16 code unit. */
const maxBytesPerUnit = 3;
const scratch = new Uint8Array(65_536);
const encoder = new TextEncoder();

/** Whether the text has too many bytes. Reading bytes is faster than reading the characters of a string, even with the copy. */
function scanText(scan: JsonScan, text: string, maxBytes: number): boolean {
  let bytes = 0;
  for (let from = 0; from < text.length && !scan.exceeded;) {
    const { read, written } = encoder.encodeInto(from === 0 ? text : text.slice(from), scratch);
    from += read;
    bytes += written;
    if (bytes > maxBytes) return true;
    scan.add(scratch.subarray(0, written));
  }
  return false;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** For the beginning of a text, which may end inside a character. */
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Throws a `ForeignJsonError` if the bytes are not UTF-8. */
export function decodeUtf8(text: string | Uint8Array): string {
  if (typeof text === 'string') return text;
  try {
    return decoder.decode(text);
  } catch {
    throw new ForeignJsonError('syntax', 'The JSON is not valid UTF-8');
  }
}

/** The error for a text that exceeds a limit. */
export function limitError(
  reason: Exclude<ForeignJsonReason, 'syntax'>,
  text: string | Uint8Array,
  limits: ForeignJsonLimits,
): ForeignJsonError {
  const { maxBytes = Infinity, maxDepth = maxJsonLevels, maxMembers = maxJsonMembers, maxEscapes } = limits;
  if (reason === 'size') return new ForeignJsonError('size', `The JSON has more than ${maxBytes} bytes.`);
  const beginning = typeof text === 'string' ? text : lenientDecoder.decode(text.subarray(0, maxSearched));
  const path = pathOf(beginning, maxDepth, perMember * maxMembers, escapeCost(maxMembers, maxEscapes));
  const subject = path === '' ? 'The JSON' : path;
  const message =
    reason === 'depth'
      ? `${subject}: nested more than ${maxDepth} levels deep; send a flatter value.`
      : `${subject}: more than ${maxMembers} members; send less, or send it in parts.`;
  return new ForeignJsonError(reason, message, path);
}

const maxNames = 3;
const maxNameLength = 60;
/** A position beyond this length is not reported, so that a rejection remains cheap. */
const maxSearched = 1_048_576;

interface Frame {
  readonly isList: boolean;
  /** Index of the current item or member. */
  at: number;
  /** The name of the current member as written, without its quotes. Undefined before it. */
  name: string | undefined;
}

/** The first names on the path to the object or list that exceeds a limit. */
function pathOf(text: string, maxDepth: number, maxMembers: number, perEscape: number): string {
  /** The outermost objects and lists around the current position. */
  const frames: Frame[] = [];
  let depth = 0;
  let members = 0;
  const end = Math.min(text.length, maxSearched);
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    const frame = depth === frames.length ? frames.at(-1) : undefined;
    if (code === quote) {
      const from = at + 1;
      for (at++; at < end && text.charCodeAt(at) !== quote; at++) {
        if (text.charCodeAt(at) !== backslash) continue;
        at++;
        members += perEscape;
      }
      if (frame && !frame.isList) frame.name ??= text.slice(from, Math.min(at, from + maxNameLength));
    } else if (code === comma) {
      if (frame) {
        frame.at++;
        frame.name = undefined;
      }
      members += costOf.comma;
    } else if (code === colon) {
      members += costOf.colon;
    } else if ((code | withoutShape) === opening) {
      if (depth === frames.length && depth <= maxNames) {
        frames.push({ isList: code !== opening, at: 0, name: undefined });
      }
      depth++;
      members += costOf.opening;
    } else if ((code | withoutShape) === closing) {
      if (depth === frames.length) frames.pop();
      depth--;
    }
    if (depth > maxDepth || members > maxMembers) {
      // The innermost of these objects and lists is the one that exceeds the limit, or the nearest recorded ancestor of it.
      const around = depth === frames.length ? frames.slice(0, -1) : frames;
      return around
        .slice(0, maxNames)
        .map((open) => (open.isList ? open.at : open.name))
        .join('.');
    }
  }
  return '';
}
