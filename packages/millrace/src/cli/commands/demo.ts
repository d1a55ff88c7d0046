import { Command } from 'commander';
import { port, positiveNumber, wholeNumber } from '../options.ts';
import type { DemoOptions } from '../compose/demo.ts';

export const demoCommand = (): Command =>
  new Command('demo')
    .description('run a sample shop with tasks of every kind')
    .option('--port <port>', 'port to listen on, 0 for any free port', port, 4400)
    .option('--data <folder>', 'data folder, new or empty (default: a temporary folder)')
    .option('--rate <orders>', 'orders per minute, with about six runs each', positiveNumber, 15)
    .option('--seed <number>', 'random seed; the same seed creates the same shop', wholeNumber, 1)
    .option('--once', 'fill the shop and print a summary as JSON; no orders follow')
    .option(
      '--json',
      'print one line of JSON when ready: url, projectRef, personalAccessToken, environments, folder, counts, open',
    )
    .option('--verbose', 'print all logs of the server and the database to stderr')
    .action(async (options: DemoOptions) => {
      const { demo } = await import('../compose/demo.ts');
      await demo(options);
    });
