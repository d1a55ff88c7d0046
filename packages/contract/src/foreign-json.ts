/** Reads JSON that another party wrote. Its size, depth and number of values are limited before `JSON.parse` builds anything. */
import { maxJsonLevels, maxJsonMembers } from './json.ts';

export interface ForeignJsonLimits {
  /** In UTF-8. Default: unlimited, for texts whose size is already limited. */
  readonly maxBytes?: number;
  /** Levels of objects and lists. Default: `maxJsonLevels`. */
  readonly maxDepth?: number;
  /** Members of objects and items of lists together; an empty object or list counts as one more. Default: `maxJsonMembers`. */
  readonly maxMembers?: number;
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
  if (exceeded === 'size') throw tooLarge(limits.maxBytes);
  if (exceeded) throw tooMuch(exceeded, textOf(text), limits);
  try {
    return JSON.parse(textOf(text)) as unknown;
  } catch (error) {
    throw error instanceof ForeignJsonError ? error : new ForeignJsonError('syntax', 'Invalid JSON');
  }
}

/** The limit that a JSON text exceeds first; undefined if it keeps all of them. Whether it is JSON is not checked. */
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
/** Maps `[` to `{` and `]` to `}`. No other character of JSON is mapped to them. */
const withoutShape = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/** A string is searched for its end with `indexOf` only after so many bytes, because that costs more than reading a short one. */
const shortString = 32;

/**
 * Counts depth and values of a JSON text that arrives in pieces, in constant memory. For other texts the counts have no meaning, but
 * `JSON.parse` cannot build more from them either.
 */
export class JsonScan {
  readonly #maxDepth: number;
  readonly #maxMembers: number;
  #depth = 0;
  #members = 0;
  #isInString = false;
  /** The piece ended with a backslash inside a string: the next byte is escaped. */
  #isEscaping = false;
  /** The limit that was exceeded first. */
  exceeded: 'depth' | 'members' | undefined;

  constructor({ maxDepth = maxJsonLevels, maxMembers = maxJsonMembers }: ForeignJsonLimits) {
    this.#maxDepth = maxDepth;
    this.#maxMembers = maxMembers;
  }

  /** Whether no JSON text of this length can exceed a limit. */
  admitsAny(length: number): boolean {
    return length <= 2 * this.#maxDepth && length <= this.#maxMembers;
  }

  add(bytes: Uint8Array): void {
    if (this.exceeded) return;
    const maxDepth = this.#maxDepth;
    const maxMembers = this.#maxMembers;
    let depth = this.#depth;
    let members = this.#members;
    let at = this.#isInString ? this.#endOfString(bytes, 0) + 1 : 0;
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === quote) {
        at = this.#endOfString(bytes, at + 1);
      } else if (byte === comma) {
        if (++members > maxMembers) break;
      } else if ((byte | withoutShape) === opening) {
        if (++depth > maxDepth || ++members > maxMembers) break;
      } else if ((byte | withoutShape) === closing) {
        depth--;
      }
    }
    this.#depth = depth;
    this.#members = members;
    if (depth > maxDepth) this.exceeded = 'depth';
    else if (members > maxMembers) this.exceeded = 'members';
  }

  /** The index of the quote that ends the string that continues at `from`; the length if it continues in the next piece. */
  #endOfString(bytes: Uint8Array, from: number): number {
    let at = this.#isEscaping ? from + 1 : from;
    this.#isEscaping = false;
    this.#isInString = true;
    for (;;) {
      const near = Math.min(bytes.length, at + shortString);
      while (at < near) {
        const byte = bytes[at] as number;
        if (byte === quote) {
          this.#isInString = false;
          return at;
        }
        at += byte === backslash ? 2 : 1;
      }
      if (at >= bytes.length) {
        this.#isEscaping = at > bytes.length;
        return bytes.length;
      }
      const found = bytes.indexOf(quote, at);
      const end = found === -1 ? bytes.length : found;
      let before = end;
      while (before > at && bytes[before - 1] === backslash) before--;
      // A quote or the end of the piece after an odd number of backslashes is escaped.
      at = (end - before) % 2 === 0 ? end : end + 1;
    }
  }
}

/** The most bytes that one UTF-16 code unit needs in UTF-8. */
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

function textOf(text: string | Uint8Array): string {
  if (typeof text === 'string') return text;
  try {
    return decoder.decode(text);
  } catch {
    throw new ForeignJsonError('syntax', 'The JSON is not valid UTF-8');
  }
}

const tooLarge = (maxBytes = Infinity) =>
  new ForeignJsonError('size', `The JSON has more than ${maxBytes} bytes.`);

function tooMuch(reason: 'depth' | 'members', text: string, limits: ForeignJsonLimits): ForeignJsonError {
  const { maxDepth = maxJsonLevels, maxMembers = maxJsonMembers } = limits;
  const path = pathOf(text, maxDepth, maxMembers);
  const subject = path === '' ? 'The JSON' : path;
  const message =
    reason === 'depth'
      ? `${subject}: nested more than ${maxDepth} levels deep; send something flatter.`
      : `${subject}: more than ${maxMembers} members and items; send less, or send it in parts.`;
  return new ForeignJsonError(reason, message, path);
}

const maxNames = 3;
const maxNameLength = 60;
/** A place behind this length is not named, so that a refusal stays cheap. */
const maxSearched = 1_048_576;

interface Frame {
  readonly isList: boolean;
  /** Index of the current item or member. */
  at: number;
  /** The name of the current member as written, without its quotes. Undefined in front of it. */
  name: string | undefined;
}

/** The first names on the path to the object or list that exceeds a limit. */
function pathOf(text: string, maxDepth: number, maxMembers: number): string {
  /** The outermost objects and lists around the current place. */
  const frames: Frame[] = [];
  let depth = 0;
  let members = 0;
  const end = Math.min(text.length, maxSearched);
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    const frame = depth === frames.length ? frames.at(-1) : undefined;
    if (code === quote) {
      const from = at + 1;
      for (at++; at < end && text.charCodeAt(at) !== quote; at++) if (text.charCodeAt(at) === backslash) at++;
      if (frame && !frame.isList) frame.name ??= text.slice(from, Math.min(at, from + maxNameLength));
    } else if (code === comma) {
      if (frame) {
        frame.at++;
        frame.name = undefined;
      }
      members++;
    } else if ((code | withoutShape) === opening) {
      if (depth === frames.length && depth <= maxNames) {
        frames.push({ isList: code !== opening, at: 0, name: undefined });
      }
      depth++;
      members++;
    } else if ((code | withoutShape) === closing) {
      if (depth === frames.length) frames.pop();
      depth--;
    }
    if (depth > maxDepth || members > maxMembers) {
      // The innermost of these objects and lists is the exceeding one, or its ancestor that was not recorded.
      const around = depth === frames.length ? frames.slice(0, -1) : frames;
      return around
        .slice(0, maxNames)
        .map((one) => (one.isList ? one.at : one.name))
        .join('.');
    }
  }
  return '';
}
