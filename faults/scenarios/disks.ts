/** Disks that are full or slow. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../network/namespaces.ts';
import { cacheOf } from '../system/millrace.ts';
import { diskOf } from '../system/postgres.ts';
import type { System } from '../system/system.ts';
import type { Scenario } from './scenario.ts';

function fill(folder: string): () => void {
  const files: string[] = [];
  for (let tries = 0; tries < 20; tries++) {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail === 0) break;
    const file = join(folder, `filler-${files.length}`);
    files.push(file);
    // Fails if PostgreSQL has taken some of the space in the meantime.
    spawnSync('fallocate', ['-l', String(bavail * bsize), file]);
  }
  return () => {
    for (const file of files) rmSync(file, { force: true });
  };
}

/** Sets the time in microseconds that PostgreSQL waits before each flush of its write-ahead log. */
async function setFlushDelay(system: System, delay: number): Promise<void> {
  const client = await system.connect('postgres', 'postgres');
  await client.query(`alter system set commit_delay = ${delay}`);
  await client.query('alter system set commit_siblings = 0');
  await client.query('select pg_reload_conf()');
  await client.end();
}

export const disks: Readonly<Record<string, Scenario>> = {
  'disk-slow': {
    title: 'each flush of the write-ahead log takes 100 ms longer for 40 s (commit_delay)',
    lasts: 40,
    async inject({ system }) {
      await setFlushDelay(system, 100_000);
      return () => setFlushDelay(system, 0);
    },
  },
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
    affectsRunner: true,
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
