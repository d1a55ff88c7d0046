import { setTimeout } from 'node:timers/promises';
import { changeKeyFile, connect, type Database, type Log, type MasterKey } from '@millrace/server';
import type { Closing } from './closing.ts';

const lookMs = 500;

/** While this process serves its embedded PostgreSQL: changes the key of its key file whenever `millrace keys rotate-master` asks. */
export function serveKeyChanges(
  { database, masterKey, file, log }: { database: Database; masterKey: MasterKey; file: string; log: Log },
  closing: Closing,
): void {
  const sql = connect(database, { name: 'millrace keys', max: 1 });
  const stop = new AbortController();
  const looking = (async () => {
    while (!stop.signal.aborted) {
      await changeKeyFile(sql, masterKey, file).then(
        (changed) => changed && log.info('masterKey.changed'),
        (error: unknown) => !stop.signal.aborted && log.error('masterKey.failed', { err: error }),
      );
      await setTimeout(lookMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  })();
  closing.add(async () => {
    stop.abort();
    await sql.end({ timeout: 0 });
    await looking;
  });
}
