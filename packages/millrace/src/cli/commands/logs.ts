import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printJson, screenOn } from '../screen.ts';

export const logsCommand = (): Command =>
  withConnectionOptions(
    new Command('logs')
      .description('what a run wrote to the console and the logger')
      .argument('<run>', 'its id (run_…)')
      .option('--json', 'a line of JSON for each line'),
  ).action(async (id: string, options: ConnectionOptions & { json?: boolean }) => {
    const { runs } = await openClient(options);
    const { line, paint } = screenOn(process.stdout);
    const colours = { debug: paint.dim, info: String, log: String, warn: paint.yellow, error: paint.red };
    for await (const entry of runs.logs(id, { limit: 1_000 })) {
      if (options.json) {
        printJson(entry);
        continue;
      }
      const properties = entry.properties ? ` ${JSON.stringify(entry.properties)}` : '';
      const where = paint.dim(`${entry.at.toISOString()} #${entry.attempt}`);
      line(
        `${where} ${entry.level.padEnd(5)} ${colours[entry.level](entry.message)}${paint.dim(properties)}`,
      );
    }
  });
