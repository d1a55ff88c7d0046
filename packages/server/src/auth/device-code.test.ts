import { expect, test } from 'vitest';
import { newDeviceCode, newUserCode, readUserCode } from './device-code.ts';

test('codes are unique, and a user code is accepted in any form a user may type', () => {
  const codes = Array.from({ length: 500 }, newUserCode);
  expect(new Set(codes).size).toBe(codes.length);
  for (const code of codes) {
    expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    for (const typed of [code, code.toLowerCase(), code.replace('-', ''), ` ${code.replace('-', ' ')} `])
      expect(readUserCode(typed)).toBe(code);
  }
  for (const other of ['', 'BBBB', 'BBBB-BBBBB', 'AAAA-BBBB', 'B0BB-BBBB', newDeviceCode()])
    expect(readUserCode(other)).toBeUndefined();
  expect(newDeviceCode()).toMatch(/^svc_code_[\w-]{43}$/);
});
