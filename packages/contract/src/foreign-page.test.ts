import { expect, test } from 'vitest';
import { foreignPage } from './foreign-page.ts';

const sentence = '502 from a proxy or another program, not from a Millrace server';

test.each([
  [
    'nginx',
    '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>',
    `${sentence}: "502 Bad Gateway"`,
  ],
  [
    'HAProxy',
    '<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n',
    `${sentence}: "503 Service Unavailable No server is available to handle this request."`,
  ],
  ['a page that only loads a script', '\n<!doctype html><script src="/app.js"></script>', sentence],
  ['escape sequences of a terminal', '<title>\u001b[2J\u0007gone</title>', `${sentence}: "[2J gone"`],
  ['a long page', `<p>${'long '.repeat(1_000)}`, `${sentence}: "${'long '.repeat(20)}"`],
  ['an unclosed tag', `<${'<'.repeat(5_000)}`, sentence],
])('names the title or the text of a page: %s', (_, text, expected) => {
  expect(foreignPage(502, text)).toBe(expected);
});

test.each(['', '{"error":"<html>"}', 'upstream gone', '<?xml version="1.0"?><Error/>'])(
  'is undefined for another response: %s',
  (text) => {
    expect(foreignPage(502, text)).toBeUndefined();
  },
);
