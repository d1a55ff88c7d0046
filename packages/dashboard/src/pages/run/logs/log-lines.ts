import type { FoundLine } from '@millrace/contract';

export type Line = FoundLine;

/** Maximum number of lines in the page: the oldest are dropped. */
export const maxLines = 20_000;

/** Adds lines, without those that already exist: a reopened stream may repeat some. */
export function withLines(lines: readonly Line[], more: readonly Line[]): readonly Line[] {
  const last = lines.at(-1)?.id ?? -1;
  const fresh = more.filter(({ id }) => id > last);
  if (fresh.length === 0) return lines;
  const all = [...lines, ...fresh];
  return all.length > maxLines ? all.slice(all.length - maxLines) : all;
}

/** A line in a log file. */
export const lineText = ({ at, level, attempt, message, properties }: Line): string =>
  [at, level.toUpperCase().padEnd(5), `#${attempt}`, message, properties ? JSON.stringify(properties) : '']
    .filter(Boolean)
    .join(' ');

const maxProperties = 2_000;

/** The properties of a line in one text, shortened. */
export const propertiesText = (properties: Readonly<Record<string, unknown>>): string => {
  const text = Object.entries(properties)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
  return text.length > maxProperties ? `${text.slice(0, maxProperties)}…` : text;
};
