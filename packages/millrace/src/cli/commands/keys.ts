import { Command } from 'commander';
import type { RotateOptions } from '../compose/rotate-master.ts';
import { createKeyCommand, listKeysCommand, revokeKeyCommand, rotateKeyCommand } from './secret-keys.ts';

const rotateMasterCommand = (): Command =>
  new Command('rotate-master')
    .description('seals everything anew with MILLRACE_MASTER_KEY that MILLRACE_MASTER_KEY_PREVIOUS sealed')
    .option(
      '--data <folder>',
      'the embedded PostgreSQL on this folder (nothing else may run on it), instead of DATABASE_URL',
    )
    .option('--json', 'one line of JSON on stdout')
    .addHelpText(
      'after',
      '\nServers that were started with both keys serve on meanwhile. See docs/environment-variables.md.',
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
