import { screenOn, table } from './screen.ts';

/** Prints rows under a dim header; "None." if there are none. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const { line, paint } = screenOn(process.stdout);
  if (rows.length === 0) return line('None.');
  const [first = '', ...rest] = table([head, ...rows]);
  line(paint.dim(first));
  for (const row of rest) line(row);
}
