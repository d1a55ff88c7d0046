import { expect, test } from 'vitest';
import { readHeaders } from './read-headers.ts';

test('reads one header a line, and ignores empty lines', () => {
  expect(readHeaders('X-GitHub-Event: push\n\n  x-empty:\n')).toEqual({
    headers: { 'X-GitHub-Event': 'push', 'x-empty': '' },
  });
});

test('names a line that is not a header', () => {
  expect(readHeaders('X-A: b\nno header')).toEqual({ error: expect.stringContaining('"no header"') });
});
