import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { killTree } from './kill-tree.ts';
import { packagePlatform } from './package-platform.ts';
import { programFile } from './program-file.ts';
import { renameOver } from './rename.ts';

test('the embedded PostgreSQL for Windows has its own package name', () => {
  expect(packagePlatform('win32', 'x64')).toBe('windows-x64');
  expect(packagePlatform('darwin', 'arm64')).toBe('darwin-arm64');
});

test('looks for Windows programs with their extension', () => {
  expect(programFile('bin', 'postgres', 'win32')).toBe(join('bin', 'postgres.exe'));
  expect(programFile('bin', 'postgres', 'linux')).toBe(join('bin', 'postgres'));
});

test('a file replaces another; errors other than that of an open file are reported immediately', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  writeFileSync(from, 'new');
  writeFileSync(to, 'old');
  await renameOver(from, to, 'windows');
  expect(readFileSync(to, 'utf8')).toBe('new');
  const startedAt = performance.now();
  await expect(renameOver(from, to, 'windows')).rejects.toMatchObject({ code: 'ENOENT' });
  mkdirSync(from);
  await expect(renameOver(from, to, 'windows')).rejects.toMatchObject({ code: 'ENOTDIR' });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

test('on Windows, taskkill kills a process by ID with its children', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // The Windows program is not available on this machine.
  writeFileSync(join(folder, 'taskkill'), `#!/bin/sh\nkill -9 "-$4"\necho "$*" > '${folder}/told'\n`, {
    mode: 0o755,
  });
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const path = process.env['PATH'];
  process.env['PATH'] = `${folder}:${path}`;
  try {
    killTree(child.pid ?? 0, 'win32');
  } finally {
    process.env['PATH'] = path;
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
  await expect
    .poll(() => existsSync(join(folder, 'told')) && readFileSync(join(folder, 'told'), 'utf8'))
    .toBe(`/T /F /PID ${child.pid}\n`);
});

test('without taskkill, and on Unix without a group, the process itself is killed', async () => {
  const path = process.env['PATH'];
  for (const system of ['win32', 'linux'] as const) {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    process.env['PATH'] = '/nowhere';
    try {
      killTree(child.pid ?? 0, system);
    } finally {
      process.env['PATH'] = path;
    }
    expect(await ended).toEqual([null, 'SIGKILL']);
  }
});

const renameFile = fileURLToPath(new URL('rename.ts', import.meta.url));
/** Root may rename everywhere. */
const somebody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

test('retries to replace a file, but only for errors of Windows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = [join(folder, 'from'), join(folder, 'to')];
  for (const file of files) writeFileSync(file, file);
  if (somebody.uid !== undefined) chownSync(folder, somebody.uid, somebody.gid);
  chmodSync(folder, 0o555);
  const rename = (ways: string): Promise<unknown> =>
    promisify(execFile)(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `(await import(process.argv[1])).renameOver(...process.argv.slice(2))`,
        renameFile,
        ...files,
        ways,
      ],
      somebody,
    );
  await expect(rename('unix')).rejects.toThrow('EACCES');
  const renaming = rename('windows');
  await wait(500);
  expect(readFileSync(join(folder, 'to'), 'utf8')).toBe(join(folder, 'to'));
  chmodSync(folder, 0o755);
  await renaming;
  expect(readFileSync(join(folder, 'to'), 'utf8')).toBe(join(folder, 'from'));
});
