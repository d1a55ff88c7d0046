import type { LogLine, SpanChunk } from '@millrace/contract/runner';

/** One replacement line for each attempt's lines that cannot be stored. Runners write the same line for dropped lines. */
export function missingLines(lines: readonly LogLine[]): LogLine[] {
  const counts = new Map<string, { line: LogLine; count: number }>();
  for (const line of lines) {
    const key = `${line.run} ${line.attempt}`;
    counts.set(key, { line, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].map(({ line: { run, attempt, at }, count }) => ({
    run,
    attempt,
    at,
    level: 'warn',
    message: `${count === 1 ? '1 line is' : `${count} lines are`} missing here: they could not be stored`,
    properties: `{"droppedLines":${count}}`,
  }));
}

/** The same for spans, of which only the number remains. */
export const missingSpans = (chunks: readonly SpanChunk[]): SpanChunk[] =>
  chunks.map(({ spans, dropped = 0, ...chunk }) => ({
    ...chunk,
    spans: [],
    dropped: dropped + spans.length,
  }));
