const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/**
 * Numbers as a row of at most `width` bars: the highest is full, zero is a dot, and an unknown value is blank. If there are more numbers than
 * bars, a bar shows the maximum of its numbers.
 */
export function sparkline(numbers: readonly (number | null)[], width: number): string {
  const size = Math.max(1, Math.ceil(numbers.length / width));
  const groups = Array.from({ length: Math.ceil(numbers.length / size) }, (_, index) => {
    const known = numbers.slice(index * size, (index + 1) * size).filter((number) => number !== null);
    return known.length === 0 ? null : Math.max(...known);
  });
  const max = Math.max(0, ...groups.map((number) => number ?? 0));
  return groups
    .map((number) => {
      if (number === null) return ' ';
      if (number <= 0) return '·';
      return bars[Math.min(bars.length, Math.ceil((number / max) * bars.length)) - 1];
    })
    .join('');
}
