import { Command } from 'commander';
import type { DoctorOptions } from '../compose/doctor.ts';

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('say what of a project works here, before it is started; exit code 1 if something does not')
    .option('--dir <folder>', 'the project', '.')
    .option('--from-trigger', 'a project whose tasks are written for @trigger.dev/sdk 4.x')
    .option('--json', 'one line of JSON: version, files, works, findings, config')
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('../compose/doctor.ts');
      await doctor(options);
    });
