import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createTemporaryFolder } from './testing/folders.ts';
import { archiveSettings } from './wal-archive.ts';

/** Runs the command as PostgreSQL does: in the folder of the cluster, with the names substituted. */
function archive(walFolder: string, cluster: string, name: string): number | null {
  const command = (archiveSettings(walFolder)['archive_command'] ?? '').replaceAll(
    /%(.)/g,
    (_, letter: string) => (letter === 'p' ? `pg_wal/${name}` : letter === 'f' ? name : letter),
  );
  return spawnSync('/bin/sh', ['-c', command], { cwd: cluster, stdio: 'ignore' }).status;
}

test('archives a segment once, also to a folder with an unusual name, and never replaces it', () => {
  const cluster = createTemporaryFolder();
  const walFolder = join(createTemporaryFolder(), `it's 100% "$HOME" \`backups\``);
  for (const folder of [join(cluster, 'pg_wal'), walFolder]) mkdirSync(folder);
  const segment = '000000010000000000000001';
  writeFileSync(join(cluster, 'pg_wal', segment), 'first');
  expect(archive(walFolder, cluster, segment)).toBe(0);
  const archived = join(walFolder, `${segment}.gz`);
  expect(gunzipSync(readFileSync(archived)).toString()).toBe('first');
  expect(statSync(archived).mode & 0o777).toBe(0o600);
  // Again, as after a crash before PostgreSQL recorded that it was archived.
  expect(archive(walFolder, cluster, segment)).toBe(0);
  writeFileSync(join(cluster, 'pg_wal', segment), 'other');
  expect(archive(walFolder, cluster, segment)).not.toBe(0);
  expect(gunzipSync(readFileSync(archived)).toString()).toBe('first');
  expect(readdirSync(walFolder)).toEqual([`${segment}.gz`]);
});

test('a segment that cannot be written is not archived', () => {
  const cluster = createTemporaryFolder();
  mkdirSync(join(cluster, 'pg_wal'));
  writeFileSync(join(cluster, 'pg_wal', 'segment'), 'first');
  expect(archive(join(cluster, 'none'), cluster, 'segment')).not.toBe(0);
  // A partial file left by a crash is written again.
  const walFolder = createTemporaryFolder();
  writeFileSync(join(walFolder, 'segment.gz.part'), 'half');
  expect(archive(walFolder, cluster, 'segment')).toBe(0);
  expect(execFileSync('gzip', ['-dc', join(walFolder, 'segment.gz')]).toString()).toBe('first');
});
