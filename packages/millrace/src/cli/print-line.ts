import type * as Sdk from '@millrace/sdk';
import { printJson, screenOn } from './screen.ts';

type Line = Sdk.RunLog & Partial<Pick<Sdk.FoundLog, 'runId' | 'taskIdentifier'>>;

/** Prints lines in the format of `--json` and `--raw`. With `of`, each line includes its run. */
export function linePrinter({
  json,
  raw,
  of = false,
}: {
  readonly json?: boolean | undefined;
  readonly raw?: boolean | undefined;
  readonly of?: boolean;
}): (line: Line) => void {
  const screen = screenOn(process.stdout);
  const { paint } = screen;
  const colours = { debug: paint.dim, info: String, log: String, warn: paint.yellow, error: paint.red };
  return (entry) => {
    if (json) return printJson(entry);
    const properties = entry.properties ? ` ${JSON.stringify(entry.properties)}` : '';
    if (raw) return screen.raw(`${entry.message}${properties}\n`);
    const who = of ? `${entry.taskIdentifier} ${entry.runId} ` : '';
    const where = paint.dim(`${entry.at.toISOString()} ${who}#${entry.attempt}`);
    // Indented, so that none of its lines can be mistaken for another entry.
    const message = entry.message.replaceAll(/\r?\n/g, `\n${' '.repeat(4)}`);
    screen.text(`${where} ${entry.level.padEnd(5)} ${colours[entry.level](message)}${paint.dim(properties)}`);
  };
}
