import { overlapRules, type OverlapRule } from '@millrace/contract/plain';
import type { CreateScheduleOptions } from '@millrace/sdk';
import { Command, Option } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printSchedule } from '../print-schedule.ts';

interface CreateOptions extends ConnectionOptions {
  readonly deduplicationKey: string;
  readonly tz?: string;
  readonly window?: string;
  readonly externalId?: string;
  readonly missed?: string;
  readonly overlap?: OverlapRule;
  readonly inactive?: boolean;
  readonly json?: boolean;
}

export const createCommand = (): Command =>
  withConnectionOptions(
    new Command('create')
      .description('a schedule of a task; with a key that one has already, its settings are replaced')
      .argument('<task>', 'the id of a task that is declared with schedules.task')
      .argument('<cron>', "a cron expression, such as '0 9 * * mon-fri'")
      .requiredOption('--deduplication-key <key>', 'its key: the environment has one schedule with it')
      .option('--tz <zone>', 'a time zone, such as Europe/Paris (default: UTC)')
      .option('--window <time>', 'spread starts inside this time after the tick: 15m, 2h or 50%')
      .option('--external-id <id>', 'an id of yours, which each run gets')
      .option('--missed <rule>', 'ticks while no server was running: skip, once (default) or all:6h')
      .addOption(
        new Option('--overlap <rule>', 'a tick while the run before is not over').choices(overlapRules),
      )
      .option('--inactive', 'it does not fire before it is activated')
      .option('--json', 'one line of JSON'),
  ).action(async (task: string, cron: string, options: CreateOptions) => {
    const { deduplicationKey, tz, window, externalId, missed, overlap, inactive, json } = options;
    const { schedules } = await openClient(options);
    const schedule = await schedules.create({
      task,
      cron,
      deduplicationKey,
      ...(tz !== undefined && { timezone: tz }),
      ...(window !== undefined && { window }),
      ...(externalId !== undefined && { externalId }),
      // The server describes the valid format for other texts.
      ...(missed !== undefined && { missed: missed as NonNullable<CreateScheduleOptions['missed']> }),
      ...(overlap !== undefined && { overlap }),
      ...(inactive && { active: false }),
    });
    printSchedule(schedule, json);
  });
