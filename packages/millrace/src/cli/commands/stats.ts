import type { Stats, StatsCounts, StatsSeries } from '@millrace/sdk';
import { Command, Option } from 'commander';
import { readableDuration } from '@millrace/contract/plain';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { sparkline } from '../sparkline.ts';

interface StatsOptions extends ConnectionOptions {
  readonly task?: string;
  readonly queue?: string;
  readonly runVersion?: string;
  readonly by?: 'task' | 'queue' | 'version';
  readonly period: string;
  readonly step?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

/** Maximum width of a sparkline in characters. */
const width = 60;

export const statsCommand = (): Command =>
  withConnectionOptions(
    new Command('stats')
      .description('show throughput, failures, waiting runs and percentiles')
      .addOption(new Option('--task <id>', 'filter by task ID').conflicts(['queue', 'runVersion', 'by']))
      .addOption(
        new Option('--queue <name>', 'filter by queue name; task/<id> is the queue of a task').conflicts([
          'runVersion',
          'by',
        ]),
      )
      .addOption(
        new Option('--run-version <version>', 'filter by version, such as 20261121.3').conflicts(['by']),
      )
      .addOption(
        new Option('--by <dimension>', 'group by task, queue or version, largest first').choices([
          'task',
          'queue',
          'version',
        ]),
      )
      .option('--period <period>', 'period up to now, such as 1h or 7d', '24h')
      .option(
        '--step <step>',
        'interval between points, such as 5m, 1h or 1d (default: depends on the period)',
      )
      .option('--limit <count>', 'with --by: maximum number of groups', positiveInteger)
      .option('--json', 'print JSON'),
  ).action(
    async ({ task, queue, runVersion, by, period, step, limit, json, ...connection }: StatsOptions) => {
      const { stats } = await openClient(connection);
      const found = await stats.retrieve({
        period,
        ...(task !== undefined && { task }),
        ...(queue !== undefined && { queue }),
        ...(runVersion !== undefined && { version: runVersion }),
        ...(by !== undefined && { by }),
        ...(step !== undefined && { step }),
        ...(limit !== undefined && { limit }),
      });
      if (json) return printJson(found);
      if (by !== undefined) return printDivided(found, by);
      const [only] = found.series;
      if (only) printSeries(found, only);
    },
  );

const failures = ({ failed, crashed, systemFailure, timedOut }: StatsCounts): number =>
  failed + crashed + systemFailure + timedOut;

const milliseconds = (ms: number | null): string => (ms === null ? '' : readableDuration(ms));

function printSeries({ from, stepMs }: Stats, { points, total }: StatsSeries): void {
  const { line, paint } = screenOn(process.stdout);
  line(paint.dim(`from ${from.toISOString()}, ${readableDuration(stepMs)} per step`));
  const count = (name: string, read: (counts: StatsCounts) => number | null): string[] => [
    name,
    sparkline(points.map(read), width),
    String(read(total) ?? ''),
  ];
  const time = (name: string, read: (counts: StatsCounts) => number | null): string[] => [
    name,
    sparkline(points.map(read), width),
    milliseconds(read(total)),
  ];
  const rows = [
    count('triggered', ({ triggered }) => triggered),
    count('completed', ({ completed }) => completed),
    count('failed', failures),
    count('retried', ({ retried }) => retried),
    count('canceled', ({ canceled }) => canceled),
    count('expired', ({ expired }) => expired),
    count('new errors', ({ newErrors }) => newErrors),
    count('peak waiting', ({ waiting }) => waiting),
    time('wait p50', ({ wait }) => wait.p50),
    time('wait p95', ({ wait }) => wait.p95),
    time('duration p50', ({ duration: times }) => times.p50),
    time('duration p95', ({ duration: times }) => times.p95),
  ];
  for (const row of table(rows)) line(row);
}

function printDivided({ series }: Stats, by: string): void {
  const { line, paint } = screenOn(process.stdout);
  if (series.length === 0) return line('No runs in this period.');
  const rows = series.map(({ name, points, total }) => [
    name ?? '',
    sparkline(
      points.map((point) => point.completed + failures(point)),
      width / 2,
    ),
    String(total.triggered),
    String(total.completed),
    String(failures(total)),
    milliseconds(total.wait.p95),
    milliseconds(total.duration.p95),
  ]);
  const [head = '', ...body] = table([
    [by, 'ended', 'triggered', 'completed', 'failed', 'wait p95', 'duration p95'],
    ...rows,
  ]);
  line(paint.dim(head));
  for (const row of body) line(row);
}
