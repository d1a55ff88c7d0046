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
      .description('what became of the times of a schedule: fired with its run, or skipped and why')
      .argument('<schedule>', 'its id (sched_…) or deduplication key')
      .addOption(new Option('--outcome <outcome>', 'only these').choices(['fired', 'skipped']))
      .option('--limit <count>', 'at most', positiveInteger, 50)
      .option('--json', 'a line of JSON for each'),
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
