import { Command } from 'commander';
import type { UpgradeDataOptions } from '../compose/upgrade-data.ts';

export const upgradeDataCommand = (): Command =>
  new Command('upgrade-data')
    .description('upgrade the embedded PostgreSQL of a data folder')
    .option('--data <folder>', 'data folder (default: from the project in --dir)')
    .option('--dir <folder>', 'project folder, used to find its `millrace dev`', '.')
    .option(
      '--from-binaries <folder>',
      'folder with the programs of the old PostgreSQL, or where npm installed them, if they are not found',
    )
    .option('--remove-old', 'delete the old databases that earlier upgrades kept, without upgrading')
    .option('--json', 'print JSON')
    .action(async (options: UpgradeDataOptions) => {
      const { upgrade } = await import('../compose/upgrade-data.ts');
      await upgrade(options);
    });
