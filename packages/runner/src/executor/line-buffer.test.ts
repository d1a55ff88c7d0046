import type { LogLine } from '@millrace/contract/runner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineBuffer } from './line-buffer.ts';

const line = (message: string, run = 'run_1'): LogLine => ({ run, attempt: 1, at: 5, level: 'log', message });
const numbers = (lines: readonly LogLine[]): number[] => lines.map(({ message }) => Number(message));
const droppedIn = ({ properties }: LogLine): number | undefined =>
  properties === undefined ? undefined : (JSON.parse(properties) as { droppedLines: number }).droppedLines;

test('lines beyond the limit are replaced by one line with their count', () => {
  const buffer = new LineBuffer(1_000);
  for (let n = 0; n < 10; n++) buffer.add(line(String(n)));
  const taken = buffer.take();
  expect(numbers(taken.slice(0, -1))).toEqual([0, 1, 2, 3]);
  expect(taken.at(-1)).toMatchObject({
    run: 'run_1',
    level: 'warn',
    message: '6 lines are missing here: they were written faster than they could be stored',
  });
  expect(buffer.isEmpty).toBe(true);
  buffer.add(line('10'));
  expect(numbers(buffer.take())).toEqual([10]);
});

test('one line may exceed the limit; lines held elsewhere count', () => {
  const buffer = new LineBuffer(1_000);
  buffer.add(line('x'.repeat(5_000)));
  expect(buffer.take()).toHaveLength(1);
  buffer.add(line('a'), 900);
  expect(buffer.take()).toMatchObject([{ message: expect.stringMatching(/^1 line is missing/) as string }]);
});

test('every line of each run is returned in order or counted', () => {
  const step = fc.oneof(
    fc.record({ run: fc.constantFrom('a', 'b'), length: fc.nat(600) }),
    fc.record({ take: fc.nat(1_500), fails: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const first = new LineBuffer(2_000);
      const second = new LineBuffer(1_500);
      const out: LogLine[] = [];
      const written: Record<string, number> = { a: 0, b: 0 };
      for (const act of steps) {
        if ('run' in act) {
          const number = (written[act.run] = (written[act.run] ?? 0) + 1);
          first.add(line(`${number}${' '.repeat(act.length)}`, act.run));
          continue;
        }
        // As between an executor and its runner, which may have no room for the lines passed to it.
        const taken = first.take(act.take);
        if (act.fails) first.putBack(taken);
        else for (const each of taken) second.add(each);
        if (act.take % 2 === 0) out.push(...second.take(act.take));
      }
      for (const each of first.take()) second.add(each);
      out.push(...second.take());
      for (const run of ['a', 'b']) {
        let next = 1;
        for (const each of out.filter((of) => of.run === run)) {
          const dropped = droppedIn(each);
          if (dropped === undefined) expect(Number(each.message)).toBe(next);
          next += dropped ?? 1;
        }
        expect(next - 1).toBe(written[run]);
      }
    }),
  );
});
