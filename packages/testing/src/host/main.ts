/**
 * The process that runs the PostgreSQL and the servers of all test processes on this machine. The first one starts it, and it ends when none
 * has been connected for a few seconds.
 */
import { appendFileSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import * as module from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startData } from './data.ts';
import { addressFile, logFile } from './protocol.ts';

const [folder = '', idleMs = '3000'] = process.argv.slice(2);
const log = join(folder, logFile);
const onLog = (line: string): void => appendFileSync(log, `${line.trimEnd()}\n`);

const maxLogBytes = 1024 * 1024;

/** The log covers many days. */
async function shortenLog(): Promise<void> {
  const found = await stat(log).catch(() => undefined);
  if (found && found.size > maxLogBytes) await rm(log);
}

/** How long the previous host may take to stop. */
const stoppingMs = 15_000;

// Half of the startup time is spent loading the server. Node.js before 22 has no such cache.
(module as { enableCompileCache?: (folder: string) => void }).enableCompileCache?.(join(folder, 'code'));
const reading = Promise.all([import('./cluster.ts'), import('./serve.ts')]);
reading.catch(() => undefined);

async function main(): Promise<void> {
  const until = Date.now() + stoppingMs;
  for (;;) {
    try {
      // The server is loaded at the same time.
      await shortenLog();
      const starting = startData(folder, onLog);
      starting.catch(() => undefined);
      const [{ openCluster }, { serve }] = await reading;
      const cluster = await openCluster(starting, folder, onLog);
      // Left behind by a host that was killed.
      await rm(join(folder, addressFile), { force: true });
      await serve({ folder, cluster, onLog, idleMs: Number(idleMs) }).finally(() => cluster.stop());
      return;
    } catch (error) {
      // Another host was faster, or is stopping. If it is serving, this one is not needed.
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
