/**
 * The process that has the PostgreSQL and the servers of all test processes of this machine. It is started by the first one, and ends when
 * none has been connected for a few seconds.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster } from './cluster.ts';
import { addressFile, logFile } from './protocol.ts';
import { serve } from './serve.ts';

const [folder = '', idleMs = '3000'] = process.argv.slice(2);
const log = join(folder, logFile);
const onLog = (line: string): void => appendFileSync(log, `${line.trimEnd()}\n`);

/** How long the host before may take to stop. */
const stoppingMs = 15_000;

async function main(): Promise<void> {
  const until = Date.now() + stoppingMs;
  for (;;) {
    try {
      const cluster = await startCluster(folder, onLog);
      // Of a host that was killed.
      await rm(join(folder, addressFile), { force: true });
      writeFileSync(log, '');
      await serve({ folder, cluster, onLog, idleMs: Number(idleMs) }).finally(() => cluster.stop());
      return;
    } catch (error) {
      // Another host was faster, or is just stopping. If it serves, nobody needs this one.
      if ((error as Error).name !== 'DataFolderInUse' || Date.now() > until) throw error;
      await sleep(50);
    }
  }
}

process.on('SIGINT', () => undefined);
main().then(
  () => process.exit(0),
  (error: unknown) => {
    onLog(`The host of the tests ended: ${error instanceof Error ? error.stack : String(error)}`);
    process.exit(1);
  },
);
