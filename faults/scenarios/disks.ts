/** Disks without free space. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../network/namespaces.ts';
import { cacheOf } from '../system/millrace.ts';
import { diskOf } from '../system/postgres.ts';
import type { Scenario } from './scenario.ts';

function fill(folder: string): () => void {
  const file = join(folder, 'filler');
  const { bavail, bsize } = statfsSync(folder);
  execFileSync('fallocate', ['-l', String(bavail * bsize), file]);
  return () => rmSync(file);
}

export const disks: Readonly<Record<string, Scenario>> = {
  'disk-full': {
    title: 'disks of all database members full for 20 s',
    lasts: 20,
    async inject({ system, leader: name, replicas }) {
      const heals = [name, ...replicas].map((member) => fill(diskOf(system.folder, member)));
      return () => {
        for (const heal of heals) heal();
      };
    },
  },
  'cache-full': {
    title: 'disk with the cache of a runner full while it restarts',
    lasts: 30,
    async inject({ system, runner }) {
      await system.stopRunner(runner);
      const cache = cacheOf(system.folder, runner);
      rmSync(cache, { recursive: true, force: true });
      mkdirSync(cache, { recursive: true });
      run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'cache', cache);
      await system.startRunner(runner);
      return async () => {
        await system.stopRunner(runner);
        run('umount', cache);
        await system.startRunner(runner);
      };
    },
  },
};
