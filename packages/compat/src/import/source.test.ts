import { expect, test } from 'vitest';
import { limitDelayMs } from './source.ts';

const now = Date.parse('2026-01-15T12:00:00Z');

test.each([
  [{ 'retry-after': '3' }, 3_000],
  [{ 'retry-after': 'Thu, 15 Jan 2026 12:00:07 GMT' }, 7_000],
  [{ 'retry-after': 'Thu, 15 Jan 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon', 'x-ratelimit-reset': String(now + 250) }, 250],
  [{ 'x-ratelimit-reset': String(now - 1) }, undefined],
  [{}, undefined],
])('a rate-limited response with %j requires a wait of %s ms', (headers, ms) => {
  expect(limitDelayMs(new Headers(headers as Record<string, string>), now)).toBe(ms);
});
