import { expect, test } from 'vitest';
import { limitStacks } from './log-stacks.ts';
import { createLog } from './logger.ts';

function fail(message: string, code?: string): Error {
  return Object.assign(new Error(message), code && { code });
}

test('logs a stack once a minute for each kind of error', () => {
  let now = 0;
  const limit = limitStacks(() => now);
  const isWhole = (err: Error) => limit({ err })['err'] === err;
  expect(isWhole(fail('no 1'))).toBe(true);
  now = 59_999;
  // The message may differ from request to request.
  expect(limit({ requestId: 'r', err: fail('no 2') })).toEqual({ requestId: 'r', error: 'Error: no 2' });
  expect(isWhole(fail('no 3', '57P01'))).toBe(true);
  expect(limit({ err: fail('no 4', '57P01') })).toEqual({ error: 'Error 57P01: no 4' });
  expect(isWhole(new Error('elsewhere'))).toBe(true);
  expect(limit({ err: 'a text' })).toEqual({ err: 'a text' });
  now = 60_000;
  expect(isWhole(fail('no 5'))).toBe(true);
});

test('logs a thousand failures of one kind as a thousand short lines', () => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  for (let n = 0; n < 1_000; n++) log.error('request.failed', { requestId: `req_${n}`, err: fail('gone') });
  expect(lines).toHaveLength(1_000);
  expect(lines.filter((line) => line.includes('"stack"'))).toHaveLength(1);
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({
    event: 'request.failed',
    requestId: 'req_999',
    error: 'Error: gone',
  });
  expect(lines.join('').length).toBeLessThan(200_000);
});
