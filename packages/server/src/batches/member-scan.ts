import { tryParse } from '../json/foreign.ts';

const quote = 0x22;
const backslash = 0x5c;
const isOpening = (byte: number) => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number) => byte === 0x7d || byte === 0x5d;
const maxText = 1_024;

/**
 * Reads selected members of one JSON object that is too large for memory, piece by piece: top-level members whose values are numbers, words
 * or short texts. Stops when all of them have been found. Does not check whether the rest is valid JSON.
 */
export class MemberScan {
  readonly members: Record<string, unknown> = {};
  readonly #memberNames: readonly string[];
  #isDone = false;
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** The name or value of the object itself that is being read, in its raw form. */
  #token: number[] = [];
  #name: string | undefined;

  constructor(memberNames: readonly string[]) {
    this.#memberNames = memberNames;
  }

  read(piece: Uint8Array): void {
    for (let at = 0; at < piece.length && !this.#isDone; at++) {
      const byte = piece[at] as number;
      if (this.#inText && this.#depth === 1) this.#text(byte);
      else if (this.#inText) at = this.#skipText(piece, at);
      else if (byte === quote) {
        this.#inText = true;
        this.#keep(byte);
      } else if (isOpening(byte)) this.#depth++;
      else if (isClosing(byte)) {
        if (this.#depth === 1) this.#value();
        this.#depth--;
      } else if (this.#depth === 1) this.#between(byte);
    }
  }

  /** The index of the last byte of a text that is not part of the object itself, or of the piece. */
  #skipText(piece: Uint8Array, from: number): number {
    let at = from;
    for (; at < piece.length; at++) {
      const byte = piece[at] as number;
      if (this.#escaped) this.#escaped = false;
      else if (byte === backslash) this.#escaped = true;
      else if (byte === quote) {
        this.#inText = false;
        break;
      }
    }
    return at;
  }

  #text(byte: number): void {
    this.#keep(byte);
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quote) this.#inText = false;
  }

  /** Colons end names, commas end values. */
  #between(byte: number): void {
    if (byte === 0x3a) {
      const name = this.#parsed();
      this.#name = typeof name === 'string' ? name : undefined;
    } else if (byte === 0x2c) this.#value();
    else this.#keep(byte);
  }

  #value(): void {
    const value = this.#parsed();
    if (this.#name !== undefined && this.#memberNames.includes(this.#name)) this.members[this.#name] = value;
    if (this.#memberNames.every((name) => Object.hasOwn(this.members, name))) this.#isDone = true;
    this.#name = undefined;
  }

  #keep(byte: number): void {
    if (this.#depth === 1 && this.#token.length <= maxText) this.#token.push(byte);
  }

  #parsed(): unknown {
    const text = Buffer.from(this.#token).toString('utf8');
    this.#token = [];
    return tryParse(text);
  }
}
