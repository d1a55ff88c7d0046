import { expect, test } from 'vitest';
import { findId } from './find-id.ts';

test.each([
  ['run_01kq4h2m0v8x5t3n', '/runs/run_01kq4h2m0v8x5t3n'],
  ['  "run_01kq4h2m0v8x5t3n" ', '/runs/run_01kq4h2m0v8x5t3n'],
  ['http://host/p/proj_a/dev/runs/run_01kq4h', '/runs/run_01kq4h'],
  ['error_0a1b2c', '/errors/error_0a1b2c'],
  ['accepted whd_01kq4h2m', '/webhook-deliveries/whd_01kq4h2m'],
])('finds the page of %s', (text, path) => {
  expect(findId(text)?.path).toBe(path);
});

test('finds nothing in other text', () => {
  expect(findId('send_mail failed')).toBeUndefined();
});
