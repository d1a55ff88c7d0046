import { expect, test } from 'vitest';
import { Cleanup, withCleanup } from './cleanup.ts';

test('stops the last thing first, and the others also when one fails to stop', async () => {
  const cleanup = new Cleanup();
  const stopped: string[] = [];
  cleanup.add(async () => stopped.push('database'));
  cleanup.add(() => Promise.reject(new Error('the server hangs')));
  cleanup.add(async () => stopped.push('runner'));
  await expect(cleanup.run()).rejects.toThrow('the server hangs');
  expect(stopped).toEqual(['runner', 'database']);
});

test('stops each thing once', async () => {
  const cleanup = new Cleanup();
  let stops = 0;
  cleanup.add(async () => (stops += 1));
  await cleanup.run();
  await cleanup.run();
  expect(stops).toBe(1);
});

test('tells why the work failed, not what failed to stop afterwards', async () => {
  const stopped: string[] = [];
  const working = withCleanup(async (cleanup) => {
    cleanup.add(async () => stopped.push('database'));
    cleanup.add(() => Promise.reject(new Error('cannot stop')));
    throw new Error('port taken');
  });
  await expect(working).rejects.toThrow('port taken');
  expect(stopped).toEqual(['database']);
});
