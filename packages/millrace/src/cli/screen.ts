import picocolors from 'picocolors';

type Paint = ReturnType<typeof picocolors.createColors>;

/** Where words for people go. `paint` is without colours when the stream is no terminal. */
export interface Screen {
  readonly line: (text?: string) => void;
  readonly paint: Paint;
}

export function screenOn(stream: Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean }): Screen {
  // Never undefined: picocolors would then decide by itself, and paints whenever it sees a CI.
  const coloured = stream.isTTY === true && process.env['NO_COLOR'] === undefined;
  return {
    line: (text = '') => void stream.write(`${text}\n`),
    paint: picocolors.createColors(coloured),
  };
}

/** One line of JSON on stdout. */
export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

/** `840 ms`, `1.3 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Columns as wide as their widest cell; the last one is left as it is. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
