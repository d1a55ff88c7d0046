import type { LogLine } from '@millrace/contract/runner';
import type { RunnerEvents } from '@millrace/runner';
import type { Screen } from '../screen.ts';
import { jsonLine } from '../terminal-text.ts';
import { throttle } from './throttle.ts';

/** Maximum number of run lines shown per second. The server stores all of them. */
const maxPerSecond = 200;

export interface RunLinesOptions {
  /** Print lines of JSON. */
  readonly json?: boolean;
  /** Print the output of runs unescaped. */
  readonly raw?: boolean;
}

/** Prints the console and logger output of runs: the first lines of each second and the number of further lines. */
export function runLines(
  { text, line, raw, paint }: Screen,
  { json = false, raw: asItIs = false }: RunLinesOptions,
  now?: () => number,
): NonNullable<RunnerEvents['onRunLog']> {
  const colours = { debug: paint.dim, info: String, log: String, warn: paint.yellow, error: paint.red };
  const show = ({ run, attempt, at, level, message, properties }: LogLine): void => {
    if (json) {
      const entry = { type: 'log', run, attempt, at: new Date(at).toISOString(), level, message };
      return raw(jsonLine({ ...entry, ...(properties !== undefined && { properties: parsed(properties) }) }));
    }
    const also = properties === undefined ? '' : ` ${properties}`;
    if (asItIs) return raw(`${message}${also}\n`);
    // Indented, so that none of its lines can be mistaken for another entry.
    const indented = message.replaceAll(/\r?\n/g, `\n${' '.repeat(8)}`);
    text(`${level.padEnd(7)} ${paint.dim(run)} ${colours[level](indented)}${paint.dim(also)}`);
  };
  const reportRest = (count: number): void => {
    if (json) return raw(jsonLine({ type: 'logsOmitted', count }));
    line(
      paint.dim(
        `… and ${count} more ${count === 1 ? 'line' : 'lines'} of runs, which \`millrace logs\` shows`,
      ),
    );
  };
  const each = throttle(show, reportRest, now, maxPerSecond);
  return (lines) => lines.forEach(each);
}

/** Properties are JSON, but may be truncated. */
function parsed(properties: string): unknown {
  try {
    return JSON.parse(properties);
  } catch {
    return properties;
  }
}
