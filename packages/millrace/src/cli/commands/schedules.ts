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
      .argument('<schedule>', 'schedule ID (sched_…) or deduplication key')
      .option('--json', 'print JSON'),
  );

const lagText = ({ lag }: Schedule): string => (lag ? readableDuration(lag.lastMs) : '-');

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list schedules, newest first')
      .option('--limit <count>', 'maximum number of results', positiveInteger, 100)
      .option('--json', 'print JSON, one object per line'),
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
  withSchedule(new Command('show').description('show a schedule and the start delay of its runs')).action(
    async (id: string, options: JsonOption) => {
      const { schedules } = await openClient(options);
      printSchedule(await schedules.retrieve(id), options.json);
    },
  );

const activateCommand = (): Command =>
  withSchedule(new Command('activate').description('activate a schedule')).action(
    async (id: string, options: JsonOption) => {
      const { schedules } = await openClient(options);
      printSchedule(await schedules.activate(id), options.json);
    },
  );

const deactivateCommand = (): Command =>
  withSchedule(new Command('deactivate').description('deactivate a schedule')).action(
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
  withSchedule(new Command('backfill').description('run the missed ticks of a past period'))
    .requiredOption('--from <date>', 'start of the period, such as 2026-01-15T00:00:00Z', instant)
    .requiredOption('--to <date>', 'end of the period (exclusive)', instant)
    .option(
      '--max <count>',
      'maximum number of ticks to check, oldest first (up to 1000)',
      positiveInteger,
      100,
    )
    .action(async (id: string, { from, to, max, ...options }: BackfillOptions) => {
      const { schedules } = await openClient(options);
      const done = await schedules.backfill(id, { from, to, max });
      if (options.json) return printJson(done);
      const { line } = screenOn(process.stdout);
      for (const run of done.runs) line(`${run.nominalAt.toISOString()}  ${run.id}`);
      line(`${done.runs.length} runs created; ${done.alreadyRun} ticks had already run.`);
      if (done.next) line(`More ticks remain. Continue with --from ${done.next.toISOString()}`);
    });

export const schedulesCommand = (): Command =>
  new Command('schedules')
    .description('manage cron schedules of tasks')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(createCommand())
    .addCommand(previewCommand())
    .addCommand(ticksCommand())
    .addCommand(activateCommand())
    .addCommand(deactivateCommand())
    .addCommand(backfillCommand());
