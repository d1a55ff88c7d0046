import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameReader, frameOf, lastFrame } from './frames.ts';
import { NotReadable, readAppendInput, textOf, writeAppendAck } from './protobuf.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const delimited = (field: number, bytes: Iterable<number>): number[] => {
  const all = [...bytes];
  return [field * 8 + 2, ...varint(all.length), ...all];
};
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Encodes like a writer. */
function encode(input: {
  records: { body: Uint8Array; headers: [string, string][]; timestamp?: number | undefined }[];
  match?: number | undefined;
  fence?: string | undefined;
}): Uint8Array {
  const records = input.records.flatMap(({ body, headers, timestamp }) =>
    delimited(1, [
      ...(timestamp === undefined ? [] : [8, ...varint(timestamp)]),
      ...headers.flatMap(([name, value]) =>
        delimited(2, [...delimited(1, utf8(name)), ...delimited(2, utf8(value))]),
      ),
      ...delimited(3, body),
    ]),
  );
  return Uint8Array.from([
    ...records,
    ...(input.match === undefined ? [] : [16, ...varint(input.match)]),
    ...(input.fence === undefined ? [] : delimited(3, utf8(input.fence))),
  ]);
}

const whole = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const inputs = fc.record({
  records: fc.array(
    fc.record({
      body: fc.uint8Array({ maxLength: 300 }),
      headers: fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string()), { maxLength: 3 }),
      timestamp: fc.option(whole, { nil: undefined }),
    }),
    { maxLength: 5 },
  ),
  match: fc.option(whole, { nil: undefined }),
  fence: fc.option(fc.string(), { nil: undefined }),
});

describe('messages', () => {
  test('are decoded to the original values', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        expect(readAppendInput(encode(input))).toEqual({
          records: input.records.map(({ body, headers }) => ({ body, headers })),
          matchSeqNum: input.match,
          fencingToken: input.fence,
        });
      }),
    );
  });

  test('that are truncated or invalid are rejected', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          readAppendInput(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(NotReadable);
        }
      }),
      { numRuns: numRuns(1_000) },
    );
    expect(() => textOf(Uint8Array.of(0xff))).toThrow(NotReadable);
  });

  test('contain three positions in acknowledgements, with numbers of any size', () => {
    const ack = writeAppendAck({
      start: { seqNum: 0, timestamp: 1_700_000_000_000 },
      end: { seqNum: 300, timestamp: 1_700_000_000_000 },
      tail: { seqNum: 2 ** 40, timestamp: 1_700_000_000_000 },
    });
    const position = (seq: number) => [8, ...varint(seq), 16, ...varint(1_700_000_000_000)];
    expect([...ack]).toEqual([
      ...delimited(1, position(0)),
      ...delimited(2, position(300)),
      ...delimited(3, position(2 ** 40)),
    ]);
  });
});

describe('frames', () => {
  test('are complete no matter how the bytes are split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 })),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (bodies, cuts) => {
          const bytes = Buffer.concat(bodies.map((body) => frameOf(Buffer.from(body))));
          const reader = new FrameReader();
          const read: number[][] = [];
          for (let at = 0, turn = 0; at < bytes.length;) {
            const length = cuts[turn++ % cuts.length] as number;
            for (const frame of reader.push(bytes.subarray(at, at + length))) read.push([...frame]);
            at += length;
          }
          expect(read).toEqual(bodies.map((body) => [...body]));
        },
      ),
    );
  });

  test('of an invalid length, or compressed, are rejected', () => {
    expect(() => [...new FrameReader().push(Buffer.from([0, 0, 0, 0]))]).toThrow(NotReadable);
    expect(() => [...new FrameReader().push(Buffer.from([0xff, 0xff, 0xff, 0]))]).toThrow(NotReadable);
    expect(() => [...new FrameReader().push(Buffer.from([0, 0, 2, 0x40, 1]))]).toThrow(NotReadable);
  });

  test('that end a session contain the reason', () => {
    const frame = lastFrame(412, { seq_num_mismatch: 3 });
    expect(frame.readUIntBE(0, 3)).toBe(frame.length - 3);
    expect([frame[3], frame.readUInt16BE(4), frame.toString('utf8', 6)]).toEqual([
      0x80,
      412,
      '{"seq_num_mismatch":3}',
    ]);
  });
});
