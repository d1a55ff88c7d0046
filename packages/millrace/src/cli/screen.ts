import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { jsonLine, jsonLines, escapeCell, escapeLine, escapeText } from './terminal-text.ts';

/** All output of the command goes through here, so that untrusted text cannot control the terminal. */

const colors = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;
export type Paint = Readonly<Record<(typeof colors)[number], (text: string) => string>>;

/** Output for people. `paint` adds no colors if the stream is not a terminal. */
export interface Screen {
  /** One line, in which line breaks are shown as characters. */
  readonly line: (text?: string) => void;
  /** Text with several lines, such as a stack. */
  readonly text: (text: string) => void;
  /** Unescaped text. Only for --raw. */
  readonly raw: (text: string) => void;
  readonly paint: Paint;
}

type Output = Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean };

// Random, so that untrusted text cannot contain a marker.
const secret = randomBytes(12).toString('hex');
const marks = new RegExp(`\u0001${secret}\\[(\\d+)m`);

/** Escapes text, except for our own colors, which are markers until then. */
const rendered = (text: string, visible: (text: string) => string, mark: (code: string) => string): string =>
  text
    .split(marks)
    .map((part, index) => (index % 2 === 1 ? mark(part) : visible(part)))
    .join('');

const asMark = (code: string): string => `\u0001${secret}[${code}m`;
const asEscape = (code: string): string => `\u001b[${code}m`;

function painting(coloured: boolean): Paint {
  const painters = colors.map((name) => {
    const [open, close] = inspect.colors[name] ?? [0, 0];
    const paint = (text: string): string => `${asMark(`${open}`)}${text}${asMark(`${close}`)}`;
    return [name, coloured ? paint : String];
  });
  return Object.fromEntries(painters) as Paint;
}

export function screenOn(stream: Output): Screen {
  const coloured = stream.isTTY === true && process.env['NO_COLOR'] === undefined;
  return {
    line: (text = '') => void stream.write(`${rendered(text, escapeLine, asEscape)}\n`),
    text: (text) => void stream.write(`${rendered(text, escapeText, asEscape)}\n`),
    raw: (text) => void stream.write(text),
    paint: painting(coloured),
  };
}

/** The time of day on this machine, such as `09:41:07`. */
export const timeOfDay = (): string => new Date().toTimeString().slice(0, 8);

/** The same screen, on which each line and text begins with the time. */
export const withTimes = (screen: Screen): Screen => ({
  ...screen,
  line: (text = '') => screen.line(`${screen.paint.dim(timeOfDay())} ${text}`),
  text: (text) => screen.text(`${screen.paint.dim(timeOfDay())} ${text}`),
});

/** Output for JSON log lines. */
export const logLinesOn = (stream: Output): { write(lines: string): void } => ({
  write: (lines) => void stream.write(jsonLines(lines)),
});

/** One line of JSON on stdout. */
export const printJson = (value: unknown): void => void writeJson(value);

/** Like printJson; false if the reader is slow. */
export const writeJson = (value: unknown): boolean => process.stdout.write(jsonLine(value));

/** Aligns columns to their widest cell, except the last one. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => rendered(cell, escapeCell, asMark)));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    }
  }
  return cells.map((row) =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)),
      )
      .join('  ')
      .trimEnd(),
  );
}

const widthOf = (cell: string): number => rendered(cell, String, () => '').length;
