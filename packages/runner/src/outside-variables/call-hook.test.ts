import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { callHook } from './call-hook.ts';

const timeoutMs = 50;

async function hook(code: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'millrace-hook-')), 'hook.mjs');
  await writeFile(file, code);
  return file;
}

test('a hook that fails is reported once, with no unhandled rejection after its timeout', async () => {
  const rejected: unknown[] = [];
  const listen = (reason: unknown): void => void rejected.push(reason);
  process.on('unhandledRejection', listen);
  onTestFinished(() => void process.off('unhandledRejection', listen));
  await expect(callHook(await hook(`throw new Error('at import');`), timeoutMs)).rejects.toThrow('at import');
  await expect(callHook(await hook('export default 5;'), timeoutMs)).rejects.toThrow(
    'must export a function',
  );
  const throwing = await hook(`export default () => { throw new Error('at once'); };`);
  await expect(callHook(throwing, timeoutMs)).rejects.toThrow('at once');
  await pause(3 * timeoutMs);
  expect(rejected).toEqual([]);
});

test('the signal of a hook is aborted at its timeout', async () => {
  const file = await hook(
    `export default ({ signal }) => new Promise(() => signal.addEventListener('abort', () => { globalThis.hookWasTold = true; }));`,
  );
  await expect(callHook(file, timeoutMs)).rejects.toThrow(/hook\.mjs took longer than 0\.05 s/);
  expect(globalThis).toHaveProperty('hookWasTold', true);
});
