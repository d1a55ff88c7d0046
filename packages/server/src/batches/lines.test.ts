import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linesOf, type Line } from './lines.ts';

async function* pieces(bytes: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let n = 0; at < bytes.length; n++) yield bytes.subarray(at, (at += lengths[n % lengths.length] ?? 1));
}

async function read(text: string, lengths: readonly number[], maxBytes: number): Promise<Line[]> {
  const all: Line[] = [];
  for await (const lines of linesOf(pieces(new TextEncoder().encode(text), lengths), maxBytes, ['a', 'b']))
    all.push(...lines);
  return all;
}

describe('lines of a stream', () => {
  test('are the same no matter how the text is split', async () => {
    const text = fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ' ')));
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        async (lines, lengths) => {
          const expected = lines.flatMap((line, n) =>
            line.trim() === '' ? [] : [{ number: n + 1, text: line }],
          );
          expect(await read(lines.join('\n'), lengths, 1_000)).toEqual(expected);
        },
      ),
    );
  });

  test('that are too long yield their numbers and short texts from any position', async () => {
    const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('x', 'y', 'z\\"'), json),
        fc.nat(),
        fc.string({ maxLength: 100 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (others, a, b, lengths) => {
          const line = JSON.stringify({ ...others, a, nested: { a: -1, b: ['no'] }, b, last: 'x"}],' });
          const [read1] = await read(`${line}\n`, lengths, 10);
          expect(read1).toEqual({ number: 1, members: { a, b } });
        },
      ),
    );
  });

  test('are not held in memory when they are too long', async () => {
    const piece = Buffer.alloc(1_024 * 1_024, 'x');
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"a":1,"payload":"');
      for (let n = 0; n < 200; n++) yield piece;
      yield Buffer.from('"}\n{"a":2}\n');
    }
    let peak = 0;
    const lines: Line[] = [];
    const before = process.memoryUsage().arrayBuffers;
    for await (const some of linesOf(endless(), 3 * 1_024 * 1_024, ['a'])) {
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
      lines.push(...some);
    }
    expect(lines).toEqual([
      { number: 1, members: { a: 1 } },
      { number: 2, text: '{"a":2}' },
    ]);
    expect(peak).toBeLessThan(50 * 1_024 * 1_024);
  });

  test('use no more memory than their size when they arrive byte by byte', async () => {
    const count = 1_000_000;
    const text = Buffer.from(`{"a":"${'x'.repeat(count)}"}\n`);
    // Excludes unreachable memory.
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = used();
    let peak = 0;
    async function* dribble(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < text.length; at++) {
        if (at % 50_000 === 0) peak = Math.max(peak, used() - before);
        yield text.subarray(at, at + 1);
      }
    }
    const lines: Line[] = [];
    for await (const some of linesOf(dribble(), 2 * count, [])) lines.push(...some);
    expect(lines).toEqual([{ number: 1, text: text.toString().trim() }]);
    expect(peak).toBeLessThan(60 * 1_024 * 1_024);
  });

  test('must be valid text', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from([0x22, 0xff, 0x22, 0x0a]);
    }
    await expect(linesOf(broken(), 100, []).next()).rejects.toMatchObject({ status: 400 });
  });
});
