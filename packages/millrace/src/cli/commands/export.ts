import { Command, InvalidArgumentError } from 'commander';
import { parsePeriodMs } from '@millrace/contract/plain';
import { withConnectionOptions } from '../connection.ts';
import type { ExportCommandOptions } from '../compose/export.ts';

export const exportCommand = (): Command =>
  withConnectionOptions(
    new Command('export')
      .description('write an environment to a file: its settings, and runs that wait')
      .argument('<file>', 'NDJSON, a line each; - is stdout'),
  )
    .option('--secrets', 'values of secret variables, too: keep the file as safe as they are')
    .option('--only <kinds>', 'some kinds, such as variable,schedule,run')
    .option('--runs', 'finished runs too, with payload and output; they are not imported')
    .option('--period <time>', 'with --runs: created within this time, such as 30d', period)
    .option('--force', 'replace the file when there is one')
    .option('--json', 'a line of JSON with what was written')
    .action(async (file: string, options: ExportCommandOptions) => {
      const { exportToFile } = await import('../compose/export.ts');
      await exportToFile(file, options);
    });

function period(text: string): string {
  if (parsePeriodMs(text) !== undefined) return text;
  throw new InvalidArgumentError('It is a number and a unit (s, m, h, d, w), such as 30d.');
}
