import type { Queue } from 'bullmq';
import { openQueue, pendingOf } from '../inside/bullmq.ts';
import { startPeerRunner } from '../peer-runner-process.ts';
import type { Databases } from '../postgres.ts';
import type { Address, System } from '../system.ts';

export function bullmqOnPostgres(databases: Databases): System {
  let address: Address = {};
  let queue: Queue | undefined;
  const end = async (): Promise<void> => {
    await queue?.close();
    queue = undefined;
  };
  return {
    name: 'bullmq:postgres',
    async begin() {
      await end();
      address = { database: await databases.fresh('bench_bullmq') };
      queue = openQueue(address, { migrate: true });
      await queue.waitUntilReady();
      return address;
    },
    startRunner: (runner) => startPeerRunner('bullmq', address, runner),
    pending: () => pendingOf(queue),
    serverPid: () => null,
    databasePid: () => databases.pid,
    end,
  };
}
