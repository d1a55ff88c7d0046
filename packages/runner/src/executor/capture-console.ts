import { formatWithOptions } from 'node:util';
import type { LogLevel, LogLine } from '@millrace/contract/runner';
import { PartialLines } from './partial-lines.ts';

/** The run of the calling code. */
export interface CurrentRun {
  readonly onLog: (line: Omit<LogLine, 'run' | 'attempt'>) => void;
}

/** Longer messages are truncated. */
export const longest = 64 * 1024;

const levels: Readonly<Record<'log' | 'info' | 'warn' | 'error' | 'debug', LogLevel>> = {
  log: 'log',
  info: 'info',
  warn: 'warn',
  error: 'error',
  debug: 'debug',
};

/**
 * Converts a run's console output to log lines of that run. Output outside of runs goes to the process's own output. stdout and stderr are
 * captured too, because console.table, console.dir and libraries write to them directly. Returns the buffer of partial lines.
 * @param inProject shortens the stacks in a text to the frames relevant to the project
 */
export function captureConsole(
  currentRun: () => CurrentRun | undefined,
  inProject: (text: string) => string = String,
): Pick<PartialLines, 'end' | 'endAll'> {
  const partial = new PartialLines(add, longest);
  for (const method of Object.keys(levels) as (keyof typeof levels)[]) {
    const plain = console[method].bind(console);
    console[method] = (...values: unknown[]) => {
      const current = currentRun();
      if (!current) plain(...values);
      else {
        partial.end(current.onLog);
        add(current.onLog, levels[method], inProject(formatWithOptions({ colors: false }, ...values)));
      }
    };
  }
  captureStream(process.stdout, 'log', currentRun, partial);
  captureStream(process.stderr, 'error', currentRun, partial);
  return partial;
}

function captureStream(
  stream: NodeJS.WriteStream,
  level: LogLevel,
  currentRun: () => CurrentRun | undefined,
  partial: PartialLines,
): void {
  const plain = stream.write.bind(stream) as (...values: unknown[]) => boolean;
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    const current = currentRun();
    if (!current) return plain(chunk, ...rest);
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    partial.write(current.onLog, level, text);
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
}

function add(onLog: CurrentRun['onLog'], level: LogLevel, text: string): void {
  const message =
    text.length > longest ? `${text.slice(0, longest)}… (${text.length - longest} more characters)` : text;
  onLog({ at: Date.now(), level, message });
}
