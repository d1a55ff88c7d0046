import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadMasterKey, parseMasterKey } from './master-key.ts';
import { seal, unseal } from './seal.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'millrace-key-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('reads a key in hex and in both base64 alphabets, with surrounding white space', () => {
  const bytes = randomBytes(32);
  const sealed = seal(parseMasterKey(bytes.toString('hex'), 'test'), 'text', 'p');
  for (const text of [
    bytes.toString('base64'),
    `  ${bytes.toString('base64url')}\n`,
    bytes.toString('hex').toUpperCase(),
  ]) {
    expect(unseal(parseMasterKey(text, 'test'), sealed, 'p')).toBe('text');
  }
});

test('rejects an invalid key naming its source, without echoing the key', () => {
  for (const text of [
    ' ',
    'hunter2',
    'zz'.repeat(32),
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('hex'),
  ]) {
    const attempt = () => parseMasterKey(text, 'MILLRACE_MASTER_KEY');
    expect(attempt).toThrow(/MILLRACE_MASTER_KEY .*32 bytes/);
    expect(attempt).not.toThrow(text.trim() || 'undefined');
  }
});

test('the first start writes a key file that only its owner can read, and later starts read it', async () => {
  const file = join(await folder(), 'secrets', 'master.key');
  const first = await loadMasterKey({ file });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await loadMasterKey({ file })).id).toEqual(first.id);
});

test('processes that start at the same time agree on one key and leave no other files', async () => {
  const at = await folder();
  const file = join(at, 'master.key');
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadMasterKey({ file })));
  expect(new Set(keys.map((key) => key.id.toString('hex'))).size).toBe(1);
  expect(await readdir(at)).toEqual(['master.key']);
});

test('the environment takes precedence over the file; if both are missing, the error explains how to create a key', async () => {
  const file = join(await folder(), 'master.key');
  await writeFile(file, 'not a key');
  const env = randomBytes(32).toString('base64');
  expect((await loadMasterKey({ env, file })).id).toEqual(parseMasterKey(env, 'test').id);
  await expect(loadMasterKey({ file })).rejects.toThrow(file);
  await expect(loadMasterKey({})).rejects.toThrow('openssl rand -base64 32');
});
