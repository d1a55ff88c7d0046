import { Command, InvalidArgumentError } from 'commander';
import { parsePeriodMs } from '@millrace/contract/plain';
import { withConnectionOptions } from '../connection.ts';
import type { ExportCommandOptions } from '../compose/export.ts';

export const exportCommand = (): Command =>
  withConnectionOptions(
    new Command('export')
      .description('export the settings and waiting runs of an environment')
      .argument('<file>', 'NDJSON file, or - for stdout'),
  )
    .option('--secrets', 'include the values of secret variables; protect the file accordingly')
    .option('--only <kinds>', 'export only these kinds, such as variable,schedule,run')
    .option('--runs', 'include finished runs with their payload and output; they are not imported')
    .option('--period <time>', 'with --runs: created within this period, such as 30d', period)
    .option('--force', 'overwrite an existing file')
    .option('--json', 'print JSON')
    .action(async (file: string, options: ExportCommandOptions) => {
      const { exportToFile } = await import('../compose/export.ts');
      await exportToFile(file, options);
    });

function period(text: string): string {
  if (parsePeriodMs(text) !== undefined) return text;
  throw new InvalidArgumentError('Must be a number and a unit (s, m, h, d, w), such as 30d.');
}
