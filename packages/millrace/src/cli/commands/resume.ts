import { Command, Option } from 'commander';
import { call } from '../call.ts';
import { findLogin, withLoginOptions, type LoginOptions } from '../login.ts';
import { printJson, screenOn } from '../screen.ts';

interface ResumeOptions extends LoginOptions {
  readonly json?: boolean;
  readonly skipMissed?: boolean;
  readonly fireMissed?: boolean;
}

export const resumeInstallationCommand = (): Command =>
  withLoginOptions(
    new Command('resume')
      .description('end the pause of `millrace start --paused` on all servers')
      .option(
        '--skip-missed',
        'skip the schedule ticks that became due; after a restore, they had already fired',
      )
      .addOption(
        new Option(
          '--fire-missed',
          'fire these ticks according to the `missed` rule of each schedule',
        ).conflicts('skipMissed'),
      ),
  ).action(async (options: ResumeOptions) => {
    const { skipMissed, fireMissed, json } = options;
    const missedTicks = skipMissed ? ('skip' as const) : fireMissed ? ('fire' as const) : undefined;
    const login = await findLogin(options);
    const resumed = await call(login, 'resumeInstallation', {
      body: { ...(missedTicks && { missedTicks }) },
    });
    if (json) return printJson(resumed);
    const { wasPaused, schedules } = resumed;
    const ticks =
      schedules === 0
        ? ''
        : ` Ticks of ${schedules} schedule${schedules === 1 ? '' : 's'} that became due ${skipMissed ? 'are skipped' : 'fire according to the `missed` rule of each'}.`;
    screenOn(process.stdout).line(
      wasPaused
        ? `Resumed: runs start and schedules fire again.${ticks}`
        : 'Not paused. Nothing was changed.',
    );
  });
