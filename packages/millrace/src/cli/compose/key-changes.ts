import { setTimeout } from 'node:timers/promises';
import { changeKeyFile, connect, type Database, type Log, type MasterKey } from '@millrace/server';
import type { Cleanup } from './cleanup.ts';

const lookMs = 500;

/** Rotates the master key of a running server with embedded PostgreSQL, when `millrace keys rotate-master` requests it. */
export function serveKeyChanges(
  { database, masterKey, file, log }: { database: Database; masterKey: MasterKey; file: string; log: Log },
  cleanup: Cleanup,
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
  cleanup.add(async () => {
    stop.abort();
    await sql.end({ timeout: 0 });
    await looking;
  });
}
