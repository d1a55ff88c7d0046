import { join, resolve } from 'node:path';
import { readableDuration, readableSize } from '@millrace/contract/plain';
import type { CopyProgress } from '@millrace/server';
import { oldClusters, removeOldClusters, upgradeData } from '@millrace/postgres';
import { progressLine } from '../progress-line.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import { stopSignal } from './backup.ts';

export interface UpgradeDataOptions {
  readonly data?: string;
  readonly dir: string;
  readonly fromBinaries?: string;
  readonly removeOld?: boolean;
  readonly json?: boolean;
}

/** Upgrades a data folder to the PostgreSQL of this Millrace, or deletes the old clusters kept by earlier upgrades. */
export async function upgrade(options: UpgradeDataOptions): Promise<void> {
  const { data, dir, fromBinaries, removeOld, json } = options;
  const dataFolder = resolve(data ?? join(dir, '.millrace', 'data'));
  if (removeOld) return remove(dataFolder, json);
  const startedAt = Date.now();
  const { from, to, copied } = await upgradeData({
    dataFolder,
    fromBinaries: fromBinaries === undefined ? undefined : resolve(fromBinaries),
    signal: stopSignal(),
    onStep: waitsFor,
    onProgress: progressReporter(),
  });
  waitsFor();
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  if (json) {
    const { tables = 0, rows = 0, indexesLeft = [] } = copied ?? {};
    const folders = copied ? [copied.oldCluster] : await oldClusters(dataFolder);
    return printJson({
      data: dataFolder,
      from,
      to,
      upgraded: copied !== undefined,
      tables,
      rows,
      indexesLeft,
      oldClusters: folders,
    });
  }
  const { line } = screenOn(process.stdout);
  if (!copied) {
    line(`The data in ${dataFolder} is already at PostgreSQL ${to}.`);
    for (const folder of await oldClusters(dataFolder)) printOldCluster(folder, dataFolder);
    return;
  }
  const { tables, rows, indexesLeft, oldCluster } = copied;
  line(
    `Upgraded ${dataFolder} from PostgreSQL ${from} to ${to}: ${rows} rows of ${tables} tables in ${seconds} s.`,
  );
  for (const name of indexesLeft)
    line(`The index ${name}, which Millrace did not create, could not be recreated.`);
  printOldCluster(oldCluster, dataFolder);
  line('Earlier backups cannot be continued: use a new folder for `millrace start` and `millrace backup`.');
}

async function remove(dataFolder: string, json: boolean | undefined): Promise<void> {
  const removed = await removeOldClusters(dataFolder);
  if (json) return printJson({ data: dataFolder, removed });
  const { line } = screenOn(process.stdout);
  if (removed.length === 0) line(`No old database in ${dataFolder}.`);
  for (const folder of removed) line(`Deleted ${folder}.`);
}

function printOldCluster(folder: string, dataFolder: string): void {
  screenOn(process.stdout).line(
    `The old database is kept in ${folder}. Delete it with \`millrace upgrade-data --data ${dataFolder} --remove-old\`.`,
  );
}

/** Prints lines on stderr, with the remaining time at the current speed. */
function progressReporter(): (progress: CopyProgress) => void {
  const report = progressLine(3_000);
  let startedAt: number | undefined;
  return ({ table, copied, total }) => {
    startedAt ??= Date.now();
    const percent = Math.floor((100 * copied) / Math.max(1, total));
    const left = (Date.now() - startedAt) * (total / copied - 1);
    // The first rows are not enough to estimate the speed.
    const ending = percent < 1 ? '' : `, about ${readableDuration(Math.ceil(left))} left`;
    report(`Copied ${readableSize(copied)} of ${readableSize(total)}, ${percent} % (${table})${ending}`);
  };
}
