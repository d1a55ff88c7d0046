import { Command, Option } from 'commander';
import { withConnectionOptions } from '../connection.ts';
import { address, environment } from '../options.ts';
import type { ImportEnvironmentOptions } from '../compose/import-environment.ts';
import type { ImportTriggerOptions } from '../compose/import-options.ts';

const triggerCommand = (): Command =>
  withConnectionOptions(
    new Command('trigger')
      .description(
        'variables and schedules of an environment of an existing installation; shows what would happen',
      )
      .option('--apply', 'do it; without it nothing is changed')
      .addOption(
        new Option('--from <address>', 'the installation that is read')
          .env('MILLRACE_IMPORT_URL')
          .default('https://api.trigger.dev')
          .argParser(address),
      )
      .addOption(
        new Option('--from-token <token>', 'a personal access token there').env('MILLRACE_IMPORT_TOKEN'),
      )
      .addOption(
        new Option(
          '--from-key <key>',
          'the secret key of its environment; not needed if the token may see it',
        ).env('MILLRACE_IMPORT_KEY'),
      )
      .option('--from-project <ref>', 'its project; default: the one of trigger.config.ts')
      .option('--from-env <environment>', 'its environment; default: as that of --key', environment)
      .addOption(new Option('--only <kind>', 'variables or schedules').choices(['variables', 'schedules']))
      .option('--override', 'over those that exist here and differ')
      .option('--inactive', 'create all schedules inactive, as long as those there fire')
      .option('--runs <file>', 'with --apply, save its runs as NDJSON, a line each; they are not imported')
      .option('--period <time>', 'with --runs: created within this time, such as 30d', '7d')
      .option('--json', 'a line of JSON for each, and one at the end'),
  ).action(async (options: ImportTriggerOptions) => {
    const { importTrigger } = await import('../compose/import-trigger.ts');
    await importTrigger(options);
  });

const environmentCommand = (): Command =>
  withConnectionOptions(
    new Command('environment')
      .description('make in this environment what a file of `millrace export` has, as often as needed')
      .argument('<file>'),
  )
    .option('--dry-run', 'show what would be done')
    .option('--only <kinds>', 'some kinds, such as variable,schedule,run')
    .option('--override', 'over what exists here and differs')
    .option('--inactive', 'create all schedules inactive')
    .option('--json', 'a line of JSON for each, and one at the end')
    .action(async (file: string, options: ImportEnvironmentOptions) => {
      const { importEnvironment } = await import('../compose/import-environment.ts');
      await importEnvironment(file, options);
    });

export const importCommand = (): Command =>
  new Command('import')
    .description('move in from another environment or installation')
    .addCommand(triggerCommand())
    .addCommand(environmentCommand());
