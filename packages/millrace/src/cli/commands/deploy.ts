import { Command, Option } from 'commander';
import type { DeployCommandOptions } from '../compose/deploy.ts';
import { withKeyOptions } from '../connection.ts';
import { grace } from '../options.ts';

export const deployCommand = (): Command =>
  withKeyOptions(new Command('deploy'))
    .description('build the tasks of a folder, upload them as a version and make it current')
    .option('--branch <name>', 'a branch of preview; it is created unless it is there')
    .option('--schedules', 'with --branch: schedules that tasks declare fire in it from now on')
    .option('--no-schedules', 'with --branch: they do not any more')
    .addOption(
      new Option('--project <ref>', 'with --branch: the project (default: that of the key)').env(
        'MILLRACE_PROJECT_REF',
      ),
    )
    .option('--no-promote', 'upload only: `millrace versions promote` makes it current')
    .option('--force', 'make it current even if no connected runner has loaded it')
    .option('--wait <span>', 'how long to wait for a runner that has loaded it (default: 60s)', grace, 60_000)
    .option('--message <text>', 'what is new, for people')
    .option('--external-id <id>', 'runs triggered with this externalDeploymentId start on this version')
    .option('--dry-run', 'build, and show what would be uploaded; nothing is sent')
    .option('--json', 'one line of JSON')
    .action(async (options: DeployCommandOptions) => {
      const { deploy } = await import('../compose/deploy.ts');
      await deploy(options);
    });
