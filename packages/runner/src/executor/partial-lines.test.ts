import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { PartialLines } from './partial-lines.ts';

const collected = () => {
  const lines: [string, string][] = [];
  const partial = new PartialLines((_, level, text) => void lines.push([level, text]), 100);
  return { lines, partial, onLog: () => {} };
};

test('a line that is written in pieces is one line', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 20 })), (pieces) => {
      const { lines, partial, onLog } = collected();
      for (const piece of pieces) partial.write(onLog, 'log', piece);
      partial.end(onLog);
      const text = pieces.join('');
      const joined = lines.map(([, line]) => line).join('\n');
      expect(joined).toBe(text.endsWith('\n') ? text.slice(0, -1) : text);
    }),
  );
});

test('text without a line end becomes a line of its stream after a timeout', () => {
  vi.useFakeTimers();
  const { lines, partial, onLog } = collected();
  partial.write(onLog, 'log', 'to ');
  partial.write(onLog, 'error', 'fail');
  partial.write(onLog, 'log', 'do');
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(250);
  expect(new Map(lines)).toEqual(
    new Map([
      ['error', 'fail'],
      ['log', 'to do'],
    ]),
  );
  partial.write(onLog, 'log', 'x'.repeat(101));
  expect(lines).toHaveLength(3);
  vi.useRealTimers();
});
