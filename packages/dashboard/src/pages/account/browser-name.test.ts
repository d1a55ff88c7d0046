import { expect, test } from 'vitest';
import { browserName } from './browser-name.ts';

test('distinguishes browsers whose user agents name several browsers', () => {
  const chrome =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36';
  expect(browserName(chrome)).toBe('Chrome on Windows');
  expect(browserName(`${chrome} Edg/143.0`)).toBe('Edge on Windows');
  expect(
    browserName(
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15',
    ),
  ).toBe('Safari on macOS');
  expect(browserName('curl/8.0')).toBe('curl/8.0');
  expect(browserName(null)).toBe('Unknown browser');
});
