import type { ListedBatch } from '@millrace/sdk';
import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printTable } from '../print-table.ts';
import { printJson } from '../screen.ts';

interface ListOptions extends ConnectionOptions {
  readonly limit: number;
  readonly json?: boolean;
}

const progressOf = ({ status, received, runCount, counts }: ListedBatch): string => {
  if (received < runCount) return `${received} of ${runCount} items received`;
  const { live, completed, failed, ended } = counts;
  const words = [
    `${completed} completed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(ended > 0 ? [`${ended} canceled or expired`] : []),
    ...(live > 0 && status !== 'ABORTED' ? [`${live} live`] : []),
  ];
  return words.join(', ');
};

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list batches and their progress, newest first')
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25)
      .option('--json', 'print JSON, one object per line'),
  ).action(async ({ limit, json, ...connection }: ListOptions) => {
    const { batch } = await openClient(connection);
    const found: ListedBatch[] = [];
    for await (const item of batch.list({ limit: Math.min(limit, 100) })) {
      found.push(item);
      if (found.length === limit) break;
    }
    if (json) return found.forEach(printJson);
    printTable(
      ['id', 'status', 'runs', 'progress', 'created'],
      found.map((item) => [
        item.id,
        item.status,
        String(item.runCount),
        progressOf(item),
        item.createdAt.toISOString(),
      ]),
    );
  });

export const batchesCommand = (): Command =>
  new Command('batches')
    .description('list batches of runs that were triggered together')
    .addCommand(listCommand());
