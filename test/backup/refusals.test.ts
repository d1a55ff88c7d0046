/** The errors of `millrace backup` and `millrace restore`, and the files that remain when they are killed. */
import { appendFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finished, millrace, temporaryProject, type Folder, type Running } from '../cli/command.ts';
import { finished as refusedInProcess } from '../cli/in-process.ts';
import { isLong } from '../support/long.ts';
import { eventually } from '../support/eventually.ts';

let folder: Folder;
const path = (...names: readonly string[]): string => join(folder.path, ...names);
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  finished(args, { cwd: folder.path, env });
const restore = (...args: readonly string[]) => run(['restore', '--from', 'backups', '--to', 'new', ...args]);
const namesIn = (name: string) => readdir(path(name)).catch(() => undefined);
const baseNames = async (): Promise<string[]> =>
  (await readdir(path('backups/base'))).filter((name) => /^\d/.test(name)).toSorted();

async function start(data: string): Promise<Running> {
  const server = millrace(['start', '--data', data, '--port', '0', '--json'], { cwd: folder.path });
  await server.line(/^\{"url"/);
  return server;
}

/** Two backups; in between, the database was started without archiving. */
beforeAll(async () => {
  folder = await temporaryProject({});
  const server = await start('data');
  expect(await run(['backup', '--data', 'data', '--to', 'backups'])).toMatchObject({ exitCode: 0 });
  server.kill('SIGTERM');
  await server.exitCode;
  expect(await run(['backup', '--data', 'data', '--to', 'backups', '--json'])).toMatchObject({ exitCode: 0 });
});
afterAll(() => folder.remove());

test('lists backups with the moment from which each can be restored', async () => {
  const listed = await run(['backup', 'list', '--from', 'backups', '--json']);
  const { data } = JSON.parse(listed.stdout) as { data: { name: string; endedAt: string }[] };
  expect(data.map(({ name }) => name)).toEqual(await baseNames());
  const result = await run(['backup', 'list'], { MILLRACE_BACKUPS: 'backups' });
  for (const { name, endedAt } of data) expect(result.stdout).toMatch(new RegExp(`${name} +${endedAt}`));
  expect((await run(['backup', 'list', '--from', 'none'])).stdout).toMatch(/^No backup in /);
});

const refused: readonly (readonly [string, readonly string[], number, RegExp])[] = [
  ['no backup folder', ['backup', '--data', 'data'], 2, /Pass --to <folder> or set MILLRACE_BACKUPS/],
  ['no folder to restore from', ['restore', '--to', 'new'], 2, /Pass --from <folder>/],
  ['no target', ['restore', '--from', 'backups'], 2, /required option '--to <folder>'/],
  ['a data folder without a database', ['backup', '--data', 'none', '--to', 'b'], 3, /No database in/],
  [
    'backups in the folder of the database itself',
    ['backup', '--data', 'data', '--to', 'data/postgres/b'],
    3,
    /cannot be in the folder of the database itself/,
  ],
  ['no data folder', ['backup', '--to', 'b'], 3, /Pass --data <folder>/],
  ['a folder without backups', ['restore', '--from', 'none', '--to', 'new'], 3, /No backup in/],
  [
    'a target that is not empty',
    ['restore', '--from', 'backups', '--to', 'data'],
    3,
    /is not empty.*nothing is ever overwritten/,
  ],
  ['a target that is a file', ['restore', '--from', 'backups', '--to', 'package.json'], 3, /not a folder/],
  ['an invalid time', ['restore', '--from', 'backups', '--to', 'new', '--at', 'noon'], 2, /ISO 8601/],
  [
    'a future time',
    ['restore', '--from', 'backups', '--to', 'new', '--at', '2999-01-01'],
    2,
    /in the future/,
  ],
  [
    'a time before all backups',
    ['restore', '--from', 'backups', '--to', 'new', '--at', '2020-01-01'],
    1,
    /No backup from before .* The earliest time .* is 2/,
  ],
  [
    'a missing timeline',
    ['restore', '--from', 'backups', '--to', 'new', '--timeline', '7'],
    1,
    /No timeline 7/,
  ],
  [
    'a missing key file',
    ['restore', '--from', 'backups', '--to', 'new', '--master-key-file', 'none'],
    3,
    /--master-key-file cannot be read/,
  ],
];

test.each(refused)('rejects %s', async (_, args, exitCode, sentence) => {
  await writeFile(path('package.json'), '{}');
  const result = await refusedInProcess(args, { cwd: folder.path });
  expect([result.exitCode, result.stderr]).toEqual([exitCode, expect.stringMatching(sentence)]);
  expect(result.stderr).not.toMatch(/^ +at /m);
  expect(await namesIn('new')).toBeUndefined();
});

test('rejects an external PostgreSQL, which has its own tools', async () => {
  const DATABASE_URL = 'postgresql://nobody@127.0.0.1:1/none';
  for (const args of [
    ['backup', '--to', 'b'],
    ['start', '--backups', 'b', '--port', '0'],
  ]) {
    const { exitCode, stderr } = await refusedInProcess(args, { cwd: folder.path, env: { DATABASE_URL } });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('millrace help backup')]);
  }
});

test('rejects a moment after the last transaction of the archive, and names that transaction', async () => {
  const { exitCode, stderr } = await restore('--at', new Date().toISOString());
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/does not reach .* omit --at/)]);
  expect(await namesIn('new')).toBeUndefined();
});

test('rejects a master key that does not open the secrets of the backup', async () => {
  await writeFile(path('other.key'), '8'.repeat(64));
  const { exitCode, stderr } = await restore('--master-key-file', 'other.key');
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('cannot decrypt the secrets')]);
  expect(await namesIn('new')).toBeUndefined();
});

test('rejects the backups of another database', async () => {
  (await start('other')).kill('SIGKILL');
  const { exitCode, stderr } = await run(['backup', '--data', 'other', '--to', 'backups']);
  expect([exitCode, stderr]).toEqual([
    3,
    expect.stringContaining('contains backups of a different database'),
  ]);
});

describe('a damaged backup', () => {
  const damaged = async (damage: (base: string) => Promise<unknown>): Promise<string> => {
    await rm(path('damaged'), { recursive: true, force: true });
    const last = (await baseNames()).at(-1) ?? '';
    await cp(path('backups'), path('damaged'), {
      recursive: true,
      // Only the last one is restored.
      filter: (from) => !/\/base\/\d/.test(from) || from.includes(`/base/${last}`),
    });
    await damage(path('damaged/base', last));
    const { exitCode, stderr } = await run(['restore', '--from', 'damaged', '--to', 'new']);
    expect(exitCode).toBe(1);
    expect(await namesIn('new')).toBeUndefined();
    return stderr;
  };

  test('is rejected when a file has changed', async () => {
    expect(await damaged((base) => appendFile(join(base, 'data/PG_VERSION'), '\n'))).toMatch(
      /is damaged: the digest of the file PG_VERSION does not match/,
    );
  });

  test.runIf(isLong)('is rejected when a file is missing', async () => {
    expect(await damaged((base) => rm(join(base, 'data/global/pg_control')))).toMatch(
      /is damaged: the file global\/pg_control is missing/,
    );
  });

  test.runIf(isLong)('is rejected when its manifest has changed', async () => {
    expect(await damaged((base) => appendFile(join(base, 'manifest.json'), ' '))).toMatch(
      /the digest of manifest.json does not match/,
    );
  });

  test('is rejected when its WAL is missing or has changed', async () => {
    const walOf = async (base: string): Promise<string> => {
      const manifest = JSON.parse(await readFile(join(base, 'manifest.json'), 'utf8')) as { endWal: string };
      return path('damaged/wal', `${manifest.endWal}.gz`);
    };
    expect(await damaged(async (base) => rm(await walOf(base)))).toMatch(/its WAL \w+ is not in the archive/);
    expect(
      await damaged(async (base) => {
        const file = await walOf(base);
        const bytes = await readFile(file);
        bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
        await writeFile(file, bytes);
      }),
    ).toMatch(/archived WAL .* is damaged/);
  });
});

/** Incomplete backups. */
const drafts = async () => (await readdir(path('backups/base'))).filter((name) => name.startsWith('draft-'));

test('a killed backup is not a backup, and the next one removes its files', async () => {
  const before = await baseNames();
  const killed = millrace(['backup', '--data', 'data', '--to', 'backups'], { cwd: folder.path });
  await eventually(drafts, ({ length }) => length > 0, 20_000);
  killed.kill('SIGKILL');
  await killed.exitCode;
  expect([await drafts(), await baseNames()]).toEqual([[expect.any(String)], before]);
  expect(await run(['backup', '--data', 'data', '--to', 'backups'])).toMatchObject({ exitCode: 0 });
  expect(await drafts()).toEqual([]);
  expect(await baseNames()).toHaveLength(before.length + 1);
});

test.runIf(isLong)('a stopped backup reports it and keeps nothing', async () => {
  const before = await baseNames();
  const stopped = millrace(['backup', '--data', 'data', '--to', 'backups'], { cwd: folder.path });
  await eventually(drafts, ({ length }) => length > 0, 20_000);
  stopped.kill('SIGINT');
  expect([await stopped.exitCode, stopped.stderr.join('\n')]).toEqual([
    1,
    expect.stringContaining('Stopped. The backup was discarded.'),
  ]);
  expect([await drafts(), await baseNames()]).toEqual([[], before]);
});

test.runIf(isLong)('a backup whose database stops reports it and keeps nothing', async () => {
  const before = await baseNames();
  const server = await start('data');
  const backup = millrace(['backup', '--data', 'data', '--to', 'backups'], { cwd: folder.path });
  await eventually(drafts, ({ length }) => length > 0, 20_000);
  server.kill('SIGKILL');
  expect([await backup.exitCode, backup.stderr.join('\n')]).toEqual([
    1,
    expect.stringContaining('PostgreSQL stopped during the backup, which was discarded.'),
  ]);
  expect([await drafts(), await baseNames()]).toEqual([[], before]);
});

test('a killed restore leaves no database, and can be repeated', async () => {
  // A folder that exists, such as a container volume.
  await mkdir(path('new'));
  const killed = millrace(['restore', '--from', 'backups', '--to', 'new'], { cwd: folder.path });
  await eventually(
    () => namesIn('new'),
    (names) => names?.some((name) => name.startsWith('restore.new-')) ?? false,
    20_000,
  );
  killed.kill('SIGKILL');
  await killed.exitCode;
  expect(await namesIn('new')).not.toContain('postgres');
  expect(await restore()).toMatchObject({ exitCode: 0 });
  const names = (await namesIn('new')) ?? [];
  expect(names.filter((name) => !name.startsWith('owner.'))).toEqual(['postgres']);
});

test.runIf(isLong)('a stopped restore reports it and keeps nothing', async () => {
  const stopped = millrace(['restore', '--from', 'backups', '--to', 'stopped'], { cwd: folder.path });
  await eventually(
    () => namesIn('stopped'),
    (names) => names?.some((name) => name.startsWith('restore.new-')) ?? false,
    20_000,
  );
  stopped.kill('SIGINT');
  expect([await stopped.exitCode, stopped.stderr.join('\n')]).toEqual([
    1,
    expect.stringContaining('Stopped. Nothing was restored.'),
  ]);
  expect(await namesIn('stopped')).toBeUndefined();
});

test('a restored database is backed up on its own timeline, to the same folder', async () => {
  expect(await run(['backup', '--data', 'new', '--to', 'backups'])).toMatchObject({ exitCode: 0 });
  const { stdout } = await run(['backup', 'list', '--from', 'backups', '--json']);
  const timelines = (JSON.parse(stdout) as { data: { timeline: number }[] }).data.map(
    ({ timeline }) => timeline,
  );
  expect(timelines.at(-1)).toBe(2);
  const newest = await run(['restore', '--from', 'backups', '--to', 'second', '--json']);
  expect(JSON.parse(newest.stdout)).toMatchObject({ backup: (await baseNames()).at(-1) });
  const older = await run(['restore', '--from', 'backups', '--to', 'first', '--timeline', '1', '--json']);
  expect(JSON.parse(older.stdout)).toMatchObject({ backup: (await baseNames()).at(-2) });
});

test('--keep deletes older backups and their WAL, and the rest can be restored', async () => {
  const before = await baseNames();
  const backup = await run(['backup', '--data', 'new', '--to', 'backups', '--keep', '2', '--json']);
  expect(JSON.parse(backup.stdout)).toMatchObject({ deleted: { backups: before.length - 1 } });
  expect(await baseNames()).toEqual([before.at(-1), expect.any(String)]);
  const segments = (await readdir(path('backups/wal'))).filter((name) => /^[0-9A-F]{24}\.gz$/.test(name));
  const oldest = path('backups/base', before.at(-1) ?? '', 'manifest.json');
  const { startWal } = JSON.parse(await readFile(oldest, 'utf8')) as { startWal: string };
  expect(segments.filter((name) => name.slice(8) < startWal.slice(8))).toEqual([]);
  const restored = await run(['restore', '--from', 'backups', '--to', 'third']);
  expect(restored).toMatchObject({ exitCode: 0 });
});
