import { Command } from 'commander';
import type { UpgradeDataOptions } from '../compose/upgrade-data.ts';

export const upgradeDataCommand = (): Command =>
  new Command('upgrade-data')
    .description('upgrade a data folder to the PostgreSQL of this Millrace; the old database is kept')
    .option('--data <folder>', 'the data folder (default: that of the `millrace dev` in --dir)')
    .option('--dir <folder>', 'the folder of a project', '.')
    .option(
      '--from-binaries <folder>',
      'where the programs of the old PostgreSQL are, if they are not installed: their folder, or one in which npm installed them',
    )
    .option('--remove-old', 'delete the databases that earlier upgrades kept, and upgrade nothing')
    .option('--json', 'one line of JSON on stdout')
    .action(async (options: UpgradeDataOptions) => {
      const { upgrade } = await import('../compose/upgrade-data.ts');
      await upgrade(options);
    });
