import { expect, test } from 'vitest';
import { hashPassword, isPassword } from './password-hash.ts';

test('a hash matches only its password, in any Unicode normalization form', async () => {
  const hash = await hashPassword('caf\u00e9 au lait 12');
  expect(await isPassword('caf\u00e9 au lait 12', hash)).toBe(true);
  expect(await isPassword('cafe\u0301 au lait 12', hash)).toBe(true);
  expect(await isPassword('caf\u00e9 au lait 13', hash)).toBe(false);
  expect(await hashPassword('caf\u00e9 au lait 12')).not.toBe(hash);
  expect(await isPassword('', undefined)).toBe(false);
});

test('verifies a hash with a different cost', async () => {
  // scrypt('correct horse battery', 'saltsaltsaltsalt', N = 1024, r = 8, p = 1), computed with Python's hashlib.
  const hash = '$scrypt$ln=10,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$fXnS5Awj6eMC+z1SbPBpyxEKbW7GHGyuCeVjw7IJSMI';
  expect(await isPassword('correct horse battery', hash)).toBe(true);
  expect(await isPassword('correct horse', hash)).toBe(false);
});
