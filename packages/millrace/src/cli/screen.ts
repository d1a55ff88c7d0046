import { randomBytes } from 'node:crypto';
import picocolors from 'picocolors';
import { jsonLine, jsonLines, visibleCell, visibleLine, visibleText } from './visible.ts';

/** Everything that a person or a program reads of the command is written here, so that nothing that others wrote steers a terminal. */

const colours = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;
type Paint = Readonly<Record<(typeof colours)[number], (text: string) => string>>;

/** Where words for people go. `paint` is without colours when the stream is no terminal. */
export interface Screen {
  /** One line: a line's end inside of it is shown, not made. */
  readonly line: (text?: string) => void;
  /** Text that may have several lines, such as a stack. */
  readonly text: (text: string) => void;
  /** The bytes as they are. Only for what a person asked to have so, with --raw. */
  readonly raw: (text: string) => void;
  readonly paint: Paint;
}

type Output = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean };

// Nobody else can know it, so what others wrote cannot have a mark in it.
const secret = randomBytes(12).toString('hex');
const marks = new RegExp(`\u0001${secret}\\[(\\d+)m`);

/** Our own colours go through as marks, everything else is made visible. */
const rendered = (text: string, visible: (text: string) => string, mark: (code: string) => string): string =>
  text
    .split(marks)
    .map((part, place) => (place % 2 === 1 ? mark(part) : visible(part)))
    .join('');

const asMark = (code: string): string => `\u0001${secret}[${code}m`;
const asEscape = (code: string): string => `\u001b[${code}m`;

function painting(coloured: boolean): Paint {
  const colour = picocolors.createColors(true);
  const painters = colours.map((name) => {
    // The two sequences of a colour, as picocolors writes them.
    const [open = '', close = ''] = [...colour[name]('|').matchAll(/\u001b\[(\d+)m/g)].map(
      ([, code = '']) => code,
    );
    const paint = (text: string): string => `${asMark(open)}${text}${asMark(close)}`;
    return [name, coloured ? paint : String];
  });
  return Object.fromEntries(painters) as Paint;
}

export function screenOn(stream: Output): Screen {
  const coloured = stream.isTTY === true && process.env['NO_COLOR'] === undefined;
  return {
    line: (text = '') => void stream.write(`${rendered(text, visibleLine, asEscape)}\n`),
    text: (text) => void stream.write(`${rendered(text, visibleText, asEscape)}\n`),
    raw: (text) => void stream.write(text),
    paint: painting(coloured),
  };
}

/** Where the lines of a log go, each of them JSON. */
export const logLinesOn = (stream: Output): { write(lines: string): void } => ({
  write: (lines) => void stream.write(jsonLines(lines)),
});

/** One line of JSON on stdout. */
export const printJson = (value: unknown): void => void writeJson(value);

/** The same; false when the reader is slower than we are. */
export const writeJson = (value: unknown): boolean => process.stdout.write(jsonLine(value));

/** `840 ms`, `1.3 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Columns as wide as their widest cell; the last one is left as it is. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const shown = rows.map((row) => row.map((cell) => rendered(cell, visibleCell, asMark)));
  const widths: number[] = [];
  for (const row of shown) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    }
  }
  return shown.map((row) =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)),
      )
      .join('  ')
      .trimEnd(),
  );
}

const widthOf = (cell: string): number => rendered(cell, String, () => '').length;
