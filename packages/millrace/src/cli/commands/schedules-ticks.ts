import type { ScheduleTick } from '@millrace/sdk';
import { Command, Option } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printTable } from '../print-table.ts';
import { printJson } from '../screen.ts';

interface TicksOptions extends ConnectionOptions {
  readonly outcome?: 'fired' | 'skipped';
  readonly limit: number;
  readonly json?: boolean;
}

export const ticksCommand = (): Command =>
  withConnectionOptions(
    new Command('ticks')
      .description('list past ticks with their run or skip reason')
      .argument('<schedule>', 'schedule ID (sched_…) or deduplication key')
      .addOption(new Option('--outcome <outcome>', 'filter by outcome').choices(['fired', 'skipped']))
      .option('--limit <count>', 'maximum number of results', positiveInteger, 50)
      .option('--json', 'print JSON, one object per line'),
  ).action(async (id: string, { outcome, limit, json, ...connection }: TicksOptions) => {
    const { schedules } = await openClient(connection);
    const ticks: ScheduleTick[] = [];
    for await (const tick of schedules.ticks(id, {
      limit: Math.min(limit, 100),
      ...(outcome && { outcome }),
    })) {
      ticks.push(tick);
      if (ticks.length === limit) break;
    }
    if (json) return ticks.forEach(printJson);
    printTable(['time', 'outcome', 'run or reason', 'status'], ticks.map(cellsOf));
  });

function cellsOf(tick: ScheduleTick): string[] {
  const time = tick.nominalAt.toISOString();
  if (tick.outcome === 'fired')
    return [time, tick.backfilled ? 'backfilled' : 'fired', tick.runId, tick.status ?? 'deleted'];
  const until =
    tick.untilAt.getTime() === tick.nominalAt.getTime() ? '' : ` to ${tick.untilAt.toISOString()}`;
  return [`${time}${until}`, 'skipped', tick.reason, ''];
}
