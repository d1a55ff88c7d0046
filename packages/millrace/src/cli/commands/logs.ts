import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printJson, screenOn } from '../screen.ts';

interface LogsOptions extends ConnectionOptions {
  readonly raw?: boolean;
  readonly json?: boolean;
}

export const logsCommand = (): Command =>
  withConnectionOptions(
    new Command('logs')
      .description('what a run wrote to the console and the logger')
      .argument('<run>', 'its id (run_…)')
      .option(
        '--raw',
        'only what it wrote, escape sequences and all; they may change what the terminal shows',
      )
      .option('--json', 'a line of JSON for each line'),
  ).action(async (id: string, options: LogsOptions) => {
    const { runs } = await openClient(options);
    const { text, raw, paint } = screenOn(process.stdout);
    const colours = { debug: paint.dim, info: String, log: String, warn: paint.yellow, error: paint.red };
    for await (const entry of runs.logs(id, { limit: 1_000 })) {
      if (options.json) {
        printJson(entry);
        continue;
      }
      const properties = entry.properties ? ` ${JSON.stringify(entry.properties)}` : '';
      if (options.raw) {
        raw(`${entry.message}${properties}\n`);
        continue;
      }
      const where = paint.dim(`${entry.at.toISOString()} #${entry.attempt}`);
      // Indented, so that none of its lines can be taken for another entry.
      const message = entry.message.replaceAll(/\r?\n/g, `\n${' '.repeat(4)}`);
      text(`${where} ${entry.level.padEnd(5)} ${colours[entry.level](message)}${paint.dim(properties)}`);
    }
  });
