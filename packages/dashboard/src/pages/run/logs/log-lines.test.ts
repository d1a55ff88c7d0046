import { expect, test } from 'vitest';
import { lineText, maxLines, withLines, type Line } from './log-lines.ts';

const line = (id: number): Line => ({
  id,
  runId: 'run_a',
  taskIdentifier: 'mail',
  attempt: 1,
  at: '2026-11-23T10:00:00.000Z',
  level: 'info',
  message: `line ${id}`,
});

test('lines repeated by a new connection appear once', () => {
  const lines = withLines([line(1), line(2)], [line(2), line(3)]);
  expect(lines.map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(withLines(lines, [line(3)])).toBe(lines);
});

test('the oldest lines are dropped when there are too many', () => {
  const lines = withLines(
    Array.from({ length: maxLines }, (_, id) => line(id)),
    [line(maxLines)],
  );
  expect(lines).toHaveLength(maxLines);
  expect(lines[0]?.id).toBe(1);
});

test('a line of the file has its time, level, attempt and properties', () => {
  expect(lineText({ ...line(1), properties: { a: 1 } })).toBe(
    '2026-11-23T10:00:00.000Z INFO  #1 line 1 {"a":1}',
  );
});
