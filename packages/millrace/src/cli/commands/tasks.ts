import type { TaskDetail, TaskInfo } from '@millrace/sdk';
import { Command } from 'commander';
import { readableDuration } from '@millrace/contract/plain';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { rateShown } from './queues-rate.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

const startedBy = ({ schedule, on }: TaskInfo): string =>
  [schedule && `cron ${schedule.cron}`, on && `event ${on.name}`].filter(Boolean).join(', ');

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list the tasks of the current version')
      .option('--json', 'print JSON, one object per line'),
  ).action(async (options: JsonOption) => {
    const { tasks } = await openClient(options);
    const found = await tasks.list();
    if (options.json) return found.forEach(printJson);
    printTable(
      ['task', 'queue', 'limit', 'attempts', 'started by', 'file', 'owner', 'description'],
      found.map((task) => [
        task.id,
        task.queue.name,
        task.queue.concurrencyLimit === null ? '-' : String(task.queue.concurrencyLimit),
        String(task.retry?.maxAttempts ?? 3),
        startedBy(task),
        task.filePath,
        task.owner ?? '-',
        task.description ?? '',
      ]),
    );
  });

const showCommand = (): Command =>
  withConnectionOptions(
    new Command('show')
      .description('show a task and its recent runs')
      .argument('<task>', 'task ID')
      .option('--json', 'print JSON'),
  ).action(async (id: string, options: JsonOption) => {
    const { tasks } = await openClient(options);
    const found = await tasks.retrieve(id);
    if (options.json) return printJson(found);
    const { line } = screenOn(process.stdout);
    for (const row of table(propertiesOf(found))) line(row);
    line();
    printTable(
      ['last runs', 'status', 'created', 'took', 'version'],
      found.lastRuns.map((run) => [
        run.id,
        run.status,
        run.createdAt.toISOString(),
        readableDuration(run.durationMs),
        run.version ?? '',
      ]),
    );
  });

function propertiesOf(task: TaskDetail): string[][] {
  const { recent } = task;
  const ms = (value: number | null): string => (value === null ? '-' : readableDuration(value));
  return [
    ['task', task.id],
    ...(task.description === undefined ? [] : [['description', task.description]]),
    ...(task.owner === undefined ? [] : [['owner', task.owner]]),
    ['file', task.filePath],
    ['version', task.version],
    ['queue', task.queue.name],
    ...(task.queue.rateLimit === null ? [] : [['rate limit', rateShown(task.queue.rateLimit)]]),
    ['attempts', String(task.retry?.maxAttempts ?? 3)],
    ...(task.maxDuration === undefined ? [] : [['max duration', `${task.maxDuration} s`]]),
    ...(task.machine === undefined ? [] : [['machine', task.machine]]),
    ...(task.payloadSchema === null ? [] : [['payload', 'JSON Schema, in --json']]),
    ...(startedBy(task) === '' ? [] : [['started by', startedBy(task)]]),
    [
      'latest runs',
      `${recent.runs}: ${recent.completed} completed, ${recent.failed} failed, ${recent.ended} canceled or expired, ${recent.live} live`,
    ],
    ['success rate', recent.successRate === null ? '-' : `${(recent.successRate * 100).toFixed(1)} %`],
    ['took', `p50 ${ms(recent.p50Ms)}, p95 ${ms(recent.p95Ms)}`],
  ];
}

export const tasksCommand = (): Command =>
  new Command('tasks')
    .description('list and show the tasks of the current version')
    .addCommand(listCommand())
    .addCommand(showCommand());
