import { Command } from 'commander';
import type { RotateOptions } from '../compose/rotate-master.ts';
import { createKeyCommand, listKeysCommand, revokeKeyCommand, rotateKeyCommand } from './secret-keys.ts';

const rotateMasterCommand = (): Command =>
  new Command('rotate-master')
    .description('encrypt all secrets with a new master key')
    .option(
      '--data <folder>',
      'data folder of the embedded PostgreSQL, instead of DATABASE_URL; its key file is replaced',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nWith DATABASE_URL, or if the key is not in a file, set MILLRACE_MASTER_KEY to the new key and MILLRACE_MASTER_KEY_PREVIOUS to the old one.\nSee: millrace help environment-variables',
    )
    .action(async (options: RotateOptions) => {
      const { rotateMaster } = await import('../compose/rotate-master.ts');
      await rotateMaster(options);
    });

export const keysCommand = (): Command =>
  new Command('keys')
    .description('manage secret keys and the master encryption key')
    .addCommand(listKeysCommand())
    .addCommand(createKeyCommand())
    .addCommand(rotateKeyCommand())
    .addCommand(revokeKeyCommand())
    .addCommand(rotateMasterCommand());
