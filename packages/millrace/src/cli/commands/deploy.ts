import { Command, Option } from 'commander';
import type { DeployCommandOptions } from '../compose/deploy.ts';
import { withKeyOptions } from '../connection.ts';
import { grace } from '../options.ts';

export const deployCommand = (): Command =>
  withKeyOptions(new Command('deploy'))
    .description('build a project, upload it as a version and promote it')
    .option('--branch <name>', 'preview branch, created if missing')
    .option('--schedules', 'with --branch: enable declared schedules in the branch')
    .option('--no-schedules', 'with --branch: disable declared schedules in the branch')
    .addOption(
      new Option('--project <ref>', 'with --branch: project ref (default: the project of the key)').env(
        'MILLRACE_PROJECT_REF',
      ),
    )
    .option('--no-promote', 'only upload; `millrace versions promote` promotes the version later')
    .option('--force', 'promote the version even if no connected runner has loaded it')
    .addOption(
      new Option('--wait <duration>', 'maximum wait for a runner to load the version')
        .default(60_000, '60s')
        .argParser(grace),
    )
    .option('--message <text>', 'description of the changes')
    .option('--external-id <id>', 'runs triggered with this externalDeploymentId start on this version')
    .option('--dry-run', 'build and list the files to upload, without uploading them')
    .option('--json', 'print JSON')
    .action(async (options: DeployCommandOptions) => {
      const { deploy } = await import('../compose/deploy.ts');
      await deploy(options);
    });
