import { expect, test } from 'vitest';
import { newAuthorizationCode, readAuthorizationCode } from './authorization-code.ts';
import { masterKeyOf } from './seal.ts';

const masterKey = masterKeyOf(Buffer.alloc(32, 1));
const other = masterKeyOf(Buffer.alloc(32, 2));
const now = Date.UTC(2026, 0, 1);

test('a code is good for ten minutes, and no other one like it', () => {
  const { code, expiresAt } = newAuthorizationCode(masterKey, now);
  expect(code).toMatch(/^svc_code_/);
  expect(newAuthorizationCode(masterKey, now).code).not.toBe(code);
  expect(expiresAt.getTime()).toBe(now + 600_000);
  expect(readAuthorizationCode(masterKey, code, now + 599_999)).toEqual(expiresAt);
  expect(readAuthorizationCode(masterKey, code, now + 600_000)).toBeUndefined();
});

test('what was not made with the key, or was changed in any place, is none', () => {
  const { code } = newAuthorizationCode(masterKey, now);
  for (let at = 0; at < code.length; at++) {
    const changed = code.slice(0, at) + (code[at] === 'A' ? 'B' : 'A') + code.slice(at + 1);
    expect([at, readAuthorizationCode(masterKey, changed, now)]).toEqual([at, undefined]);
  }
  for (const wrong of ['', 'x', code.slice(0, -1), `${code}A`, ` ${code}`, `${code}\n`]) {
    expect(readAuthorizationCode(masterKey, wrong, now)).toBeUndefined();
  }
  expect(readAuthorizationCode(other, code, now)).toBeUndefined();
  // While keys are changed a server takes the codes of one that has not changed yet.
  expect(readAuthorizationCode({ ...other, previous: masterKey }, code, now)).toBeDefined();
});
