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
      .description('create a schedule, or replace one with the same key')
      .argument('<task>', 'ID of a task declared with schedules.task')
      .argument('<cron>', "cron expression, such as '0 9 * * mon-fri'")
      .requiredOption('--deduplication-key <key>', 'deduplication key, unique in the environment')
      .option('--tz <zone>', 'time zone, such as Europe/Paris (default: UTC)')
      .option('--window <time>', 'spread the starts over this time after each tick: 15m, 2h or 50%')
      .option('--external-id <id>', 'ID of your choice, passed to each run')
      .option(
        '--missed <rule>',
        'rule for ticks missed while no server was running: skip, once (default) or all:6h',
      )
      .addOption(
        new Option('--overlap <rule>', 'rule for a tick before the previous run has ended').choices(
          overlapRules,
        ),
      )
      .option('--inactive', 'create the schedule as inactive')
      .option('--json', 'print JSON'),
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
