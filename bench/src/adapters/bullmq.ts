import type { Queue } from 'bullmq';
import { openQueue, pendingOf } from '../inside/bullmq.ts';
import { startRedis, type Durability, type RunningRedis } from '../redis.ts';
import type { Address, System } from '../system.ts';
import { startPeerRunner } from '../peer-runner-process.ts';

export function bullmq(durability: Durability): System {
  let redis: RunningRedis | undefined;
  let address: Address = {};
  let queue: Queue | undefined;
  const end = async (): Promise<void> => {
    await queue?.close();
    await redis?.stop();
    queue = redis = undefined;
  };
  return {
    name: `bullmq:${durability}`,
    async begin() {
      await end();
      redis = await startRedis(durability);
      address = { path: redis.path };
      queue = openQueue(address);
      return address;
    },
    startRunner: (runner) => startPeerRunner('bullmq', address, runner),
    pending: () => pendingOf(queue),
    serverPid: () => null,
    databasePid: () => redis?.pid ?? 0,
    end,
  };
}
