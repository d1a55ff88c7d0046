import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { throttle } from './throttle.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('acts at once, then once in each interval with requests, and never loses the last', () => {
  let acted = 0;
  const throttled = throttle(() => void (acted += 1), 16);
  for (let request = 0; request < 5; request += 1) throttled.request();
  expect(acted).toBe(1);
  vi.advanceTimersByTime(16);
  expect(acted).toBe(2);
  vi.advanceTimersByTime(100);
  expect(acted).toBe(2);
  throttled.request();
  expect(acted).toBe(3);
  throttled.request();
  throttled.flush();
  expect(acted).toBe(4);
  vi.advanceTimersByTime(100);
  expect(acted).toBe(4);
});

test('acts no more after it was canceled, and at each request without an interval', () => {
  let acted = 0;
  const throttled = throttle(() => void (acted += 1), 16);
  throttled.request();
  throttled.request();
  throttled.cancel();
  vi.advanceTimersByTime(100);
  expect(acted).toBe(1);

  const direct = throttle(() => void (acted += 1), 0);
  direct.request();
  direct.request();
  expect(acted).toBe(3);
});
