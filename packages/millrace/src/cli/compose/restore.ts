import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseMasterKey } from '@millrace/server';
import { restore } from '@millrace/postgres';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import { backupFolder, stopSignal } from './backup.ts';

export interface RestoreOptions {
  readonly from?: string;
  readonly to: string;
  readonly at?: Date;
  readonly timeline?: number;
  readonly masterKeyFile?: string;
  /** False with --no-pause. */
  readonly pause: boolean;
  readonly json?: boolean;
}

/** Restores a backup to a new data folder and prints the next steps. */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { to, at, timeline, masterKeyFile, pause, json } = options;
  const backups = backupFolder(options.from, '--from');
  const dataFolder = resolve(to);
  const ownKey = join(dataFolder, 'master.key');
  const masterKey = await findKey(masterKeyFile, ownKey);
  const { base, lastTransactionAt } = await restore({
    backups,
    dataFolder,
    at,
    timeline,
    paused: pause,
    masterKey,
    keyFile: masterKeyFile,
    signal: stopSignal(),
    onStep: waitsFor,
  });
  waitsFor();
  const restoredTo = lastTransactionAt?.toISOString() ?? null;
  if (json) {
    return printJson({
      data: dataFolder,
      backup: base.name,
      at: at?.toISOString() ?? null,
      lastTransactionAt: restoredTo,
      paused: pause,
      masterKey: masterKey ? 'verified' : 'missing',
    });
  }
  const { line } = screenOn(process.stdout);
  line(
    `Restored to ${dataFolder}: backup ${base.name}, and ${restoredTo ? `all transactions up to ${restoredTo}` : 'no transaction after it'}.`,
  );
  if (!masterKey)
    line(`A backup does not contain the master key: store it in ${ownKey}, or set MILLRACE_MASTER_KEY.`);
  line(`Start it with \`millrace start --data ${to}\`.`);
  if (pause)
    line(
      'It is paused: no runs start and no schedules fire until `millrace resume --skip-missed`, which skips earlier ticks.',
    );
}

/** The key that the restored database must have, if it is available: from the option, the data folder, or the environment. */
async function findKey(option: string | undefined, ownKey: string) {
  const stored = await readFile(ownKey, 'utf8').catch(() => undefined);
  if (option !== undefined) {
    if (stored !== undefined) {
      throw new CommandFailed(
        exitCodes.usage,
        `${ownKey} already contains a key. Omit --master-key-file, or remove that file.`,
      );
    }
    const text = await readFile(option, 'utf8').catch((error: Error) => {
      throw new CommandFailed(
        exitCodes.cannotStart,
        `The file of --master-key-file cannot be read: ${error.message}.`,
      );
    });
    return { key: parseMasterKey(text, option), from: option };
  }
  if (stored !== undefined) return { key: parseMasterKey(stored, ownKey), from: ownKey };
  const text = process.env['MILLRACE_MASTER_KEY']?.trim();
  return text ? { key: parseMasterKey(text, 'MILLRACE_MASTER_KEY'), from: 'MILLRACE_MASTER_KEY' } : undefined;
}
