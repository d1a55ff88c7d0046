import { expect, test } from 'vitest';
import { Cleanup, withCleanup } from './cleanup.ts';

test('stops in reverse order, and continues if one fails to stop', async () => {
  const cleanup = new Cleanup();
  const stopped: string[] = [];
  cleanup.add(async () => stopped.push('database'));
  cleanup.add(() => Promise.reject(new Error('the server hangs')));
  cleanup.add(async () => stopped.push('runner'));
  await expect(cleanup.run()).rejects.toThrow('the server hangs');
  expect(stopped).toEqual(['runner', 'database']);
});

test('stops each resource once', async () => {
  const cleanup = new Cleanup();
  let stops = 0;
  cleanup.add(async () => (stops += 1));
  await cleanup.run();
  await cleanup.run();
  expect(stops).toBe(1);
});

test('throws the error of the work, not a later error of a stop', async () => {
  const stopped: string[] = [];
  const working = withCleanup(async (cleanup) => {
    cleanup.add(async () => stopped.push('database'));
    cleanup.add(() => Promise.reject(new Error('cannot stop')));
    throw new Error('port taken');
  });
  await expect(working).rejects.toThrow('port taken');
  expect(stopped).toEqual(['database']);
});
