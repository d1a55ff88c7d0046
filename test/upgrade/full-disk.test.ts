/** The disk becomes full while a data folder is upgraded: a separate small file system, whose size is reduced during the upgrade. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clusterMajor, startPostgres } from '../../packages/postgres/src/cluster/index.ts';
import { connect } from '../../packages/server/src/db/connect.ts';
import { migrate } from '../../packages/server/src/db/migrate.ts';
import { millrace } from '../cli/command.ts';
import { isLong } from '../support/long.ts';
import { mountSmallDisk, needsMount } from '../support/small-disk.ts';
import { present, startInstallation, type Installation } from './installation.ts';
import { contentOf, installOld, type Binaries } from './old-data.ts';

const MB = 1_000_000;
const wholeSize = 2_000 * MB;

let installation: Installation;
let binaries: Binaries;
let disk: string;
let data: string;
let before: Record<string, string>;
/** Undefined if this process may not mount file systems. */
let unmount: (() => void) | undefined;

const resize = (bytes: number): unknown =>
  execFileSync('mount', ['-o', `remount,size=${bytes}`, disk], { stdio: 'ignore' });

async function used(): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(disk);
  return (blocks - bfree) * bsize;
}

/** Leaves this much space on the disk, or none if more than that was used since `from`. */
async function leave(room: number, from: number): Promise<void> {
  for (;;) {
    try {
      resize(Math.max(from + room, await used()));
      return;
    } catch {
      // More was used in between.
    }
  }
}

/** A database of about 100 MB of incompressible data. */
async function fill(): Promise<void> {
  const running = await startPostgres({ dataDir: data, binaries });
  const sql = connect(running.connection, { name: 'test', max: 1 });
  await migrate(sql);
  await sql`
    insert into runs (env, id, task, queue_id, sort_key, created_at, status, finished_at, payload)
    select 1, 'run_' || lpad(to_hex(n), 20, '0'), 'large', 1, n, now(), 'COMPLETED', now(),
           (select string_agg(md5(n || ' ' || i), '') from generate_series(1, 50) i)
      from generate_series(1, 25000) n`;
  await sql.end();
  await running.stop();
}

beforeAll(async () => {
  installation = await startInstallation();
  disk = join(installation.folder, 'disk');
  data = join(disk, 'data');
  await mkdir(disk);
  unmount = mountSmallDisk(disk, `size=${wholeSize},mode=755`);
  if (!unmount) return;
  await mkdir(data, { mode: 0o711 });
  ({ binaries } = await installOld(installation.folder));
  await fill();
  before = await contentOf(data, binaries);
}, 240_000);
afterAll(async () => {
  unmount?.();
  await installation?.end();
});

const args = ['upgrade-data', '--data', 'disk/data', '--from-binaries', 'postgres-17'];

async function expectUnchanged(): Promise<void> {
  expect(clusterMajor(join(data, 'postgres'))).toBe(17);
  expect((await readdir(data)).filter((name) => /upgrade|kept/.test(name))).toEqual([]);
  expect(await contentOf(data, binaries)).toEqual(before);
}

test.runIf(isLong)(
  'a disk that is full at the start is reported, and nothing is changed',
  async (context) => {
    if (!unmount) return context.skip(needsMount);
    await leave(0, 0);
    expect(await installation.run(present, args)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(
        /^millrace: The disk of \S+data is full\. Free some space and try again; /m,
      ),
    });
    await leave(20 * MB, await used());
    expect(await installation.run(present, args)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringMatching(
        /^millrace: The new database needs up to \d+ MB, and the disk of \S+data has [\d.]+ MB\. Free some space and try again; nothing was changed\./m,
      ),
    });
    resize(wholeSize);
    await expectUnchanged();
  },
  60_000,
);

test.runIf(isLong)(
  'a disk that becomes full at any moment ends the upgrade with instructions, and the old database starts',
  async (context) => {
    if (!unmount) return context.skip(needsMount);
    // From the first files of the new database to its last rows.
    for (const room of [2, 45, 70, 110]) {
      const from = await used();
      const running = millrace(args, { cwd: installation.folder });
      let isOver = false;
      void running.exitCode.then(() => (isOver = true));
      // The required space has been checked once its folder exists.
      const hasBegun = async () => (await readdir(data)).some((name) => name.startsWith('upgrade.new-'));
      while (!isOver && !(await hasBegun())) await sleep(1);
      await leave(room * MB, from);
      expect([room, await running.exitCode, running.stdout, running.stderr.at(-1)]).toEqual([
        room,
        1,
        [],
        expect.stringMatching(
          /^millrace: The disk of \S+data is full\. Free some space and try again; the database is unchanged\./,
        ),
      ]);
      resize(wholeSize);
      await expectUnchanged();
    }
  },
  240_000,
);

test.runIf(isLong)(
  'with free space the next call upgrades it',
  async (context) => {
    if (!unmount) return context.skip(needsMount);
    expect(await installation.run(present, args)).toMatchObject({ exitCode: 0 });
    expect(clusterMajor(join(data, 'postgres'))).toBe(18);
    expect(existsSync(join(data, 'postgres.17-kept'))).toBe(true);
    expect(await contentOf(data, binaries)).toEqual(before);
  },
  120_000,
);
