import { connect, loadMasterKey, rotateMasterKey } from '@millrace/server';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';
import { withClosing } from './closing.ts';
import { embeddedDatabase, externalDatabase } from './open-database.ts';

export interface RotateOptions {
  readonly data?: string;
  readonly json?: boolean;
}

/** Seals everything anew with the master key that was sealed with the previous one. */
export async function rotateMaster({ data, json }: RotateOptions): Promise<void> {
  const masterKey = await loadMasterKey({
    env: process.env['MILLRACE_MASTER_KEY'],
    previous: process.env['MILLRACE_MASTER_KEY_PREVIOUS'],
  });
  if (!masterKey.previous) {
    throw new CommandFailed(
      exitCodes.usage,
      'Set MILLRACE_MASTER_KEY to the new key and MILLRACE_MASTER_KEY_PREVIOUS to the one that is in use.',
    );
  }
  const url = process.env['DATABASE_URL']?.trim() || undefined;
  if ((url === undefined) === (data === undefined)) {
    throw new CommandFailed(
      exitCodes.usage,
      'Where is the data? Set DATABASE_URL, or give --data <folder>; one of them.',
    );
  }
  await withClosing(async (closing) => {
    const { database } =
      data === undefined ? externalDatabase(url ?? '') : await embeddedDatabase(data, closing);
    const sql = connect(database, { name: 'millrace keys', max: 2 });
    closing.add(() => sql.end());
    const { resealed } = await rotateMasterKey(sql, masterKey).catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'SealBroken') throw error;
      throw new CommandFailed(
        exitCodes.cannotStart,
        `Something in this database opens with neither of the two keys, so it stays as it is: ${error.message}`,
      );
    });
    if (json) return printJson({ resealed });
    const { line } = screenOn(process.stdout);
    line(`Sealed ${resealed} values anew. MILLRACE_MASTER_KEY_PREVIOUS is no longer needed.`);
  });
}
