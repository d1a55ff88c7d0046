/** The messages of the protocol in protocol buffers: AppendInput is read, AppendAck is written. */

/** A record as a writer sends it. The body is text, or the operand of a command. */
export interface InputRecord {
  readonly body: Uint8Array;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface AppendInput {
  readonly records: readonly InputRecord[];
  readonly matchSeqNum: number | undefined;
  readonly fencingToken: string | undefined;
}

export interface Position {
  readonly seqNum: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}

export interface AppendAck {
  readonly start: Position;
  /** One more than the number of the last record. */
  readonly end: Position;
  readonly tail: Position;
}

/** The bytes are not a valid message. */
export class NotReadable extends Error {
  override name = 'NotReadable';
}

const varint = 0;
const delimited = 2;

/** Yields each field: a number for a varint, bytes for a length-delimited field. Other wire types are skipped. */
function* fields(bytes: Uint8Array): Generator<readonly [field: number, value: number | Uint8Array]> {
  let at = 0;

  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || scale > 2 ** 63) throw new NotReadable('A number is not terminated.');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };

  while (at < bytes.length) {
    const tag = number();
    const kind = tag % 8;
    const field = Math.floor(tag / 8);
    if (kind === varint) yield [field, number()];
    else if (kind === delimited || kind === 1 || kind === 5) {
      const length = kind === delimited ? number() : kind === 1 ? 8 : 4;
      if (at + length > bytes.length) throw new NotReadable('A field is longer than its message.');
      const value = bytes.subarray(at, at + length);
      at += length;
      if (kind === delimited) yield [field, value];
    } else throw new NotReadable('A field has an unknown type.');
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new NotReadable('A text is not valid UTF-8.');
  }
}

const bytesIn = (value: number | Uint8Array): Uint8Array => {
  if (typeof value === 'number') throw new NotReadable('A field must not be a number.');
  return value;
};

export function readAppendInput(bytes: Uint8Array): AppendInput {
  const records: InputRecord[] = [];
  let matchSeqNum: number | undefined;
  let fencingToken: string | undefined;
  for (const [field, value] of fields(bytes)) {
    if (field === 1) records.push(readRecord(bytesIn(value)));
    if (field === 2) {
      if (!Number.isSafeInteger(value)) throw new NotReadable('match_seq_num is not a valid number.');
      matchSeqNum = Number(value);
    }
    if (field === 3) fencingToken = textOf(bytesIn(value));
  }
  return { records, matchSeqNum, fencingToken };
}

function readRecord(bytes: Uint8Array): InputRecord {
  const headers: [string, string][] = [];
  let body = new Uint8Array();
  for (const [field, value] of fields(bytes)) {
    if (field === 2) headers.push(readHeader(bytesIn(value)));
    if (field === 3) body = bytesIn(value).slice();
  }
  return { body, headers };
}

function readHeader(bytes: Uint8Array): [string, string] {
  const pair: [string, string] = ['', ''];
  for (const [field, value] of fields(bytes)) {
    if (field === 1) pair[0] = textOf(bytesIn(value));
    if (field === 2) pair[1] = textOf(bytesIn(value));
  }
  return pair;
}

function writeNumber(into: number[], value: number): void {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) into.push((rest % 128) + 128);
  into.push(rest);
}

export function writeAppendAck({ start, end, tail }: AppendAck): Buffer {
  const bytes: number[] = [];
  for (const [index, { seqNum, timestamp }] of [start, end, tail].entries()) {
    const position: number[] = [];
    for (const [field, value] of [seqNum, timestamp].entries()) {
      position.push((field + 1) * 8 + varint);
      writeNumber(position, value);
    }
    bytes.push((index + 1) * 8 + delimited, position.length, ...position);
  }
  return Buffer.from(bytes);
}
