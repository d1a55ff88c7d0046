import { Command } from 'commander';
import type { RotateOptions } from '../compose/rotate-master.ts';
import { createKeyCommand, listKeysCommand, revokeKeyCommand, rotateKeyCommand } from './secret-keys.ts';

const rotateMasterCommand = (): Command =>
  new Command('rotate-master')
    .description('seals everything anew with another master key, while servers serve')
    .option(
      '--data <folder>',
      'the embedded PostgreSQL on this folder, instead of DATABASE_URL; its key file gets a new key',
    )
    .option('--json', 'one line of JSON on stdout')
    .addHelpText(
      'after',
      '\nWith DATABASE_URL, or with a key that is no file: MILLRACE_MASTER_KEY is the new one, MILLRACE_MASTER_KEY_PREVIOUS the one before.\nSee: millrace help environment-variables',
    )
    .action(async (options: RotateOptions) => {
      const { rotateMaster } = await import('../compose/rotate-master.ts');
      await rotateMaster(options);
    });

export const keysCommand = (): Command =>
  new Command('keys')
    .description('secret keys of environments, and the key that secrets are sealed with')
    .addCommand(listKeysCommand())
    .addCommand(createKeyCommand())
    .addCommand(rotateKeyCommand())
    .addCommand(revokeKeyCommand())
    .addCommand(rotateMasterCommand());
