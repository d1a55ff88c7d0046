import { parsePacket, stringifyIO } from '@trigger.dev/core/v3';
import { describe, expect, test } from 'vitest';
import { decode } from '../../packages/sdk/src/payload/decode.ts';
import { encodeLossily } from '../../packages/sdk/src/payload/encode.ts';
import { UnserializableError } from '../../packages/sdk/src/payload/unserializable-error.ts';

describe('encodeLossily', () => {
  class Result {
    readonly text = 'hi';
    readonly call = (): number => 1;
    readonly #hidden = 2;
    get total(): number {
      return this.#hidden;
    }
  }

  test('writes the output of superjson, which the published SDK writes and reads', async () => {
    const circle: Record<string, unknown> = { at: new Date(5) };
    circle['self'] = circle;
    for (const value of [
      undefined,
      'text',
      null,
      { a: [1] },
      new Result(),
      { result: new Result(), f: () => 1, s: Symbol('x'), list: [() => 1] },
      { file: Buffer.from('hi'), reply: new Response('x'), later: Promise.resolve(1) },
      new Map([['a', new Result()]]),
      new Date(Number.NaN),
      () => 1,
      circle,
    ]) {
      const { text, type } = encodeLossily(value, 'output');
      const { data, dataType } = await stringifyIO(value);
      expect(type).toBe(dataType);
      const read: unknown = await parsePacket({ data, dataType });
      expect(await parsePacket({ data: text, dataType: type })).toEqual(read);
      expect(decode(data ?? null, type)).toEqual(read);
    }
    const { text, type } = encodeLossily({ result: new Result(), file: Buffer.from('hi') }, 'output');
    expect(decode(text!, type)).toEqual({ result: { text: 'hi' }, file: Buffer.from('hi') });
  });

  test('rejects values that superjson rejects', () => {
    class Self {
      readonly self = this;
    }
    expect(() => encodeLossily(new Self(), 'output')).toThrow(/^The output cannot be serialized: .*circular/);
    expect(() => encodeLossily({ n: new BigInt64Array(1) }, 'output')).toThrow(UnserializableError);
  });
});
