/** A parameter of a statement in PostgreSQL's binary format, which neither side has to spell out or to read. */
export interface Parameter {
  readonly bytes: number;
  write(into: Buffer, at: number): void;
}

/** Milliseconds at which PostgreSQL's time begins. */
const epochMs = Date.UTC(2000, 0);

export const timestamp = (ms: number): Parameter => ({
  bytes: 8,
  write: (into, at) => void into.writeBigInt64BE(BigInt(ms - epochMs) * 1_000n, at),
});

export const int4 = (value: number): Parameter => ({
  bytes: 4,
  write: (into, at) => void into.writeInt32BE(value, at),
});

export const uuid = (value: string): Parameter => ({
  bytes: 16,
  write: (into, at) => writeUuid(into, at, value),
});

export const text = (value: string): Parameter => ({
  bytes: Buffer.byteLength(value),
  write: (into, at) => void into.write(value, at),
});

export const int4s = (values: readonly number[]): Parameter =>
  fixed(23, 4, values, (into, at, value) => void into.writeInt32BE(value, at));

export const uuids = (values: readonly string[]): Parameter => fixed(2950, 16, values, writeUuid);

export function texts(values: readonly string[]): Parameter {
  const lengths = values.map((value) => Buffer.byteLength(value));
  return {
    bytes: headBytes + lengths.reduce((sum, length) => sum + 4 + length, 0),
    write(into, start) {
      let at = writeHead(into, start, 25, values.length);
      for (const [index, value] of values.entries()) {
        at = into.writeInt32BE(lengths[index] as number, at);
        at += into.write(value, at);
      }
    },
  };
}

function writeUuid(into: Buffer, at: number, value: string): void {
  into.write(value.replaceAll('-', ''), at, 'hex');
}

function fixed<T>(
  oid: number,
  size: number,
  values: readonly T[],
  write: (into: Buffer, at: number, value: T) => void,
): Parameter {
  return {
    bytes: headBytes + values.length * (4 + size),
    write(into, start) {
      let at = writeHead(into, start, oid, values.length);
      for (const value of values) {
        at = into.writeInt32BE(size, at);
        write(into, at, value);
        at += size;
      }
    },
  };
}

const headBytes = 20;

/** An array of one dimension, without nulls, that begins at 1. */
function writeHead(into: Buffer, start: number, oid: number, length: number): number {
  let at = start;
  for (const word of [1, 0, oid, length, 1]) at = into.writeInt32BE(word, at);
  return at;
}
