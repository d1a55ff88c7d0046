import type { FoundLine } from '@millrace/contract';

export type Line = FoundLine;

/** Lines that are kept in the page: the oldest go. */
export const maxLines = 20_000;

/** Lines with more of them, without those that are there already: a stream that was made again may repeat some. */
export function withLines(lines: readonly Line[], more: readonly Line[]): readonly Line[] {
  const last = lines.at(-1)?.id ?? -1;
  const fresh = more.filter(({ id }) => id > last);
  if (fresh.length === 0) return lines;
  const all = [...lines, ...fresh];
  return all.length > maxLines ? all.slice(all.length - maxLines) : all;
}

/** What a file of the log has for a line. */
export const lineText = ({ at, level, attempt, message, properties }: Line): string =>
  [at, level.toUpperCase().padEnd(5), `#${attempt}`, message, properties ? JSON.stringify(properties) : '']
    .filter(Boolean)
    .join(' ');
