import { Command } from 'commander';
import { port, positiveNumber, wholeNumber } from '../options.ts';
import type { DemoOptions } from '../compose/demo.ts';

export const demoCommand = (): Command =>
  new Command('demo')
    .description('a shop to look at: server, runner, and tasks of all kinds that keep moving')
    .option('--port <port>', '0 = any', port, 4400)
    .option('--data <folder>', 'where its data is kept, a new or empty folder (default: a temporary one)')
    .option('--rate <orders>', 'orders a minute; each makes about six runs', positiveNumber, 15)
    .option('--seed <number>', 'the same seed makes the same shop', wholeNumber, 1)
    .option('--once', 'fill the shop, print a summary in JSON, and let nothing move after that')
    .option(
      '--json',
      'when ready, one line of JSON on stdout: url, projectRef, personalAccessToken, environments, folder, counts, open',
    )
    .option('--verbose', 'every line that server and database log, on stderr')
    .action(async (options: DemoOptions) => {
      const { demo } = await import('../compose/demo.ts');
      await demo(options);
    });
