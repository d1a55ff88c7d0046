import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { Redis } from 'ioredis';
import { end, start } from './child.ts';
import { until } from './clock.ts';
import { dataFolder } from './folders.ts';

/** `always`: nothing acknowledged is lost. `everysec`: up to a second may be. */
export type Durability = 'always' | 'everysec';

export interface RunningRedis {
  readonly path: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** An empty redis-server on its own socket. */
export async function startRedis(durability: Durability): Promise<RunningRedis> {
  const folder = join(dataFolder, `redis-${durability}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const path = `/tmp/millrace-bench-redis-${durability}-${process.pid}.sock`;
  const settings = {
    port: '0',
    unixsocket: path,
    dir: folder,
    appendonly: 'yes',
    appendfsync: durability,
    save: '',
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child: ChildProcess = start('redis-server', args, { stdio: 'ignore' });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const answers = async (): Promise<boolean> => {
    const redis = new Redis({ path, lazyConnect: true, retryStrategy: null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return (await redis.ping()) === 'PONG';
    } catch {
      return false;
    } finally {
      redis.disconnect();
    }
  };
  if (!(await Promise.race([until(answers, 10_000, 50), failed])))
    throw new Error('redis-server does not answer');
  return {
    path,
    pid: child.pid ?? 0,
    async stop() {
      await end(child);
      rmSync(path, { force: true });
    },
  };
}
