import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { previewRuns } from '@millrace/contract/cron';
import { Command } from 'commander';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { positiveInteger } from '../options.ts';
import { printJson, screenOn, writeJson } from '../screen.ts';
import { waitsFor } from '../waiting.ts';

interface PreviewOptions {
  readonly tz: string;
  readonly from?: string;
  readonly n: number;
  readonly json?: boolean;
  readonly ndjson?: boolean;
}

export const previewCommand = (): Command =>
  new Command('preview')
    .description('print the next times of a cron expression')
    .argument('[pattern]', "cron expression, such as '0 9 * * mon-fri'")
    .option('--tz <zone>', 'time zone, such as Europe/Paris', 'UTC')
    .option('--from <date>', 'list times after this date, such as 2026-01-15T12:00:00Z (default: now)')
    .option('-n <count>', 'number of times', positiveInteger, 10)
    .option('--json', 'print JSON: an array of times')
    .option(
      '--ndjson',
      'read lines {"pattern","tz","from","n"} from stdin, and print a JSON array or {"error"} for each',
    )
    .action(async (pattern: string | undefined, options: PreviewOptions) => {
      if (options.ndjson) return answerLines();
      if (pattern === undefined) {
        throw new CommandFailed(
          exitCodes.usage,
          "Missing argument: a cron expression, as in millrace schedules preview '0 9 * * mon-fri'.",
        );
      }
      const { tz, from = new Date().toISOString(), n } = options;
      const times = previewRuns({ pattern, tz, from, n });
      if ('error' in times) throw new CommandFailed(exitCodes.usage, times.error);
      if (options.json) return printJson(times);
      const { line, paint } = screenOn(process.stdout);
      if (times.length === 0) return line('The expression matches no future date.');
      const local = new Intl.DateTimeFormat('en-GB', { timeZone: tz, dateStyle: 'full', timeStyle: 'long' });
      for (const time of times) line(`${time}  ${paint.dim(local.format(new Date(time)))}`);
    });

/** One output line for each input line, in order and without a limit, as fast as the output is read. */
async function answerLines(): Promise<void> {
  waitsFor('lines of JSON on stdin');
  for await (const text of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (!writeJson(answer(text))) await once(process.stdout, 'drain');
  }
}

function answer(text: string): string[] | { error: string } {
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch (error) {
    return {
      error: `Invalid JSON: ${(error as Error).message}. Write a line such as {"pattern":"0 9 * * *","tz":"UTC","from":"2026-01-15T12:00:00Z","n":3}.`,
    };
  }
  return previewRuns(request);
}
