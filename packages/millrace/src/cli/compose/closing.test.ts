import { expect, test } from 'vitest';
import { Closing, withClosing } from './closing.ts';

test('stops the last thing first, and the others also when one fails to stop', async () => {
  const closing = new Closing();
  const stopped: string[] = [];
  closing.add(async () => stopped.push('database'));
  closing.add(() => Promise.reject(new Error('the server hangs')));
  closing.add(async () => stopped.push('runner'));
  await expect(closing.run()).rejects.toThrow('the server hangs');
  expect(stopped).toEqual(['runner', 'database']);
});

test('stops each thing once', async () => {
  const closing = new Closing();
  let stops = 0;
  closing.add(async () => (stops += 1));
  await closing.run();
  await closing.run();
  expect(stops).toBe(1);
});

test('tells why the work failed, not what failed to stop afterwards', async () => {
  const stopped: string[] = [];
  const working = withClosing(async (closing) => {
    closing.add(async () => stopped.push('database'));
    closing.add(() => Promise.reject(new Error('cannot stop')));
    throw new Error('port taken');
  });
  await expect(working).rejects.toThrow('port taken');
  expect(stopped).toEqual(['database']);
});
