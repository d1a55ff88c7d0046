import { Command } from 'commander';
import type { Schedule } from '@millrace/sdk';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { instant, positiveInteger } from '../options.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { readableDuration } from '@millrace/contract/plain';
import { printSchedule } from '../print-schedule.ts';
import { createCommand } from './schedules-create.ts';
import { previewCommand } from './schedules-preview.ts';
import { ticksCommand } from './schedules-ticks.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

const withSchedule = (command: Command): Command =>
  withConnectionOptions(
    command
      .argument('<schedule>', 'its id (sched_…) or deduplication key')
      .option('--json', 'JSON, a line each'),
  );

const lagText = ({ lag }: Schedule): string => (lag ? readableDuration(lag.lastMs) : '-');

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('schedules, newest first')
      .option('--limit <count>', 'at most', positiveInteger, 100)
      .option('--json', 'a line of JSON for each schedule'),
  ).action(async ({ limit, json, ...connection }: JsonOption & { limit: number }) => {
    const { schedules } = await openClient(connection);
    const found: Schedule[] = [];
    for await (const schedule of schedules.list({ perPage: Math.min(limit, 100) })) {
      found.push(schedule);
      if (found.length === limit) break;
    }
    if (json) return found.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (found.length === 0) return line('No schedules.');
    const rows = found.map((schedule) => [
      schedule.id,
      schedule.task,
      schedule.generator.expression,
      schedule.timezone,
      schedule.active ? (schedule.nextRunEffectiveAt?.toISOString() ?? 'never again') : 'inactive',
      lagText(schedule),
      schedule.generator.description,
    ]);
    const [head = '', ...body] = table([
      ['id', 'task', 'cron', 'zone', 'next run', 'lag', 'meaning'],
      ...rows,
    ]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

const showCommand = (): Command =>
  withSchedule(new Command('show').description('one schedule, and how late its runs start')).action(
    async (id: string, options: JsonOption) => {
      const { schedules } = await openClient(options);
      printSchedule(await schedules.retrieve(id), options.json);
    },
  );

const activateCommand = (): Command =>
  withSchedule(new Command('activate').description('let a schedule fire, from its next time on')).action(
    async (id: string, options: JsonOption) => {
      const { schedules } = await openClient(options);
      printSchedule(await schedules.activate(id), options.json);
    },
  );

const deactivateCommand = (): Command =>
  withSchedule(new Command('deactivate').description('keep a schedule from firing')).action(
    async (id: string, options: JsonOption) => {
      const { schedules } = await openClient(options);
      printSchedule(await schedules.deactivate(id), options.json);
    },
  );

interface BackfillOptions extends JsonOption {
  readonly from: Date;
  readonly to: Date;
  readonly max: number;
}

const backfillCommand = (): Command =>
  withSchedule(new Command('backfill').description('run the times of a past range that were not run'))
    .requiredOption('--from <date>', 'the range begins with this, such as 2026-01-15T00:00:00Z', instant)
    .requiredOption('--to <date>', 'the range ends before this', instant)
    .option(
      '--max <count>',
      'look at so many times at most, the oldest first (up to 1000)',
      positiveInteger,
      100,
    )
    .action(async (id: string, { from, to, max, ...options }: BackfillOptions) => {
      const { schedules } = await openClient(options);
      const done = await schedules.backfill(id, { from, to, max });
      if (options.json) return printJson(done);
      const { line } = screenOn(process.stdout);
      for (const run of done.runs) line(`${run.nominalAt.toISOString()}  ${run.id}`);
      line(`${done.runs.length} runs made, ${done.alreadyRun} times had been run before.`);
      if (done.next) line(`There is more: go on with --from ${done.next.toISOString()}`);
    });

export const schedulesCommand = (): Command =>
  new Command('schedules')
    .description('tasks that run at the times of a cron expression')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(createCommand())
    .addCommand(previewCommand())
    .addCommand(ticksCommand())
    .addCommand(activateCommand())
    .addCommand(deactivateCommand())
    .addCommand(backfillCommand());
