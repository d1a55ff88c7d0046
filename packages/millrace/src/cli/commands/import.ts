import { Command, Option } from 'commander';
import { withConnectionOptions } from '../connection.ts';
import { address, environment } from '../options.ts';
import type { ImportEnvironmentOptions } from '../compose/import-environment.ts';
import type { ImportTriggerOptions } from '../compose/import-options.ts';

const triggerCommand = (): Command =>
  withConnectionOptions(
    new Command('trigger')
      .description('import variables and schedules from Trigger.dev')
      .option('--apply', 'apply the changes; without it, they are only listed')
      .addOption(
        new Option('--from <address>', 'URL of the source installation')
          .env('MILLRACE_IMPORT_URL')
          .default('https://api.trigger.dev')
          .argParser(address),
      )
      .addOption(
        new Option('--from-token <token>', 'personal access token of the source').env(
          'MILLRACE_IMPORT_TOKEN',
        ),
      )
      .addOption(
        new Option(
          '--from-key <key>',
          'secret key of the source environment; optional if the token can read it',
        ).env('MILLRACE_IMPORT_KEY'),
      )
      .option('--from-project <ref>', 'source project (default: from trigger.config.ts)')
      .option(
        '--from-env <environment>',
        'source environment (default: the environment of --key)',
        environment,
      )
      .addOption(new Option('--only <kind>', 'import only these').choices(['variables', 'schedules']))
      .option('--override', 'overwrite existing items that differ')
      .option('--inactive', 'create all schedules as inactive, while those of the source still fire')
      .option(
        '--runs <file>',
        'with --apply: save the runs of the source to this NDJSON file; they are not imported',
      )
      .option('--period <time>', 'with --runs: created within this period, such as 30d', '7d')
      .option('--json', 'print JSON, one object per line and a summary at the end'),
  ).action(async (options: ImportTriggerOptions) => {
    const { importTrigger } = await import('../compose/import-trigger.ts');
    await importTrigger(options);
  });

const environmentCommand = (): Command =>
  withConnectionOptions(
    new Command('environment')
      .description('import a file of `millrace export`; safe to repeat')
      .argument('<file>', 'file written by `millrace export`'),
  )
    .option('--dry-run', 'list the changes, without applying them')
    .option('--only <kinds>', 'import only these kinds, such as variable,schedule,run')
    .option('--override', 'overwrite existing items that differ')
    .option('--inactive', 'create all schedules as inactive')
    .option('--json', 'print JSON, one object per line and a summary at the end')
    .action(async (file: string, options: ImportEnvironmentOptions) => {
      const { importEnvironment } = await import('../compose/import-environment.ts');
      await importEnvironment(file, options);
    });

export const importCommand = (): Command =>
  new Command('import')
    .description('import from another environment or installation')
    .addCommand(triggerCommand())
    .addCommand(environmentCommand());
