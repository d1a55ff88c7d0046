import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printJson, screenOn } from '../screen.ts';
import { withExplanation } from '../with-explanation.ts';

export const whyCommand = (): Command =>
  withConnectionOptions(
    new Command('why')
      .description('explain why a run is not executing')
      .argument('<run>', 'run ID (run_…)')
      .option('--json', 'print JSON'),
  ).action(async (id: string, options: ConnectionOptions & { json?: boolean }) => {
    const { runs } = await openClient(options);
    const reason = await runs.reason(id);
    if (options.json) return printJson(reason);
    const { line, paint } = screenOn(process.stdout);
    line(`${paint.bold(reason.status)}  ${withExplanation(reason.message)}`);
  });
