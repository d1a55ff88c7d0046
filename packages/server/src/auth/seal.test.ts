import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { masterKeyOf, seal, UnsealError, unseal } from './seal.ts';

const key = masterKeyOf(Buffer.alloc(32, 1));
const other = masterKeyOf(Buffer.alloc(32, 2));

test('any text can be unsealed with the same context', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, purpose) => {
      const wellFormed = text.toWellFormed();
      expect(unseal(key, seal(key, wellFormed, purpose), purpose)).toBe(wellFormed);
    }),
  );
});

test('cannot unseal with another context, another key, or a changed bit', () => {
  const sealed = seal(key, 'a secret', 'envvars:1');
  expect(() => unseal(key, sealed, 'envvars:2')).toThrow(UnsealError);
  expect(() => unseal(other, sealed, 'envvars:1')).toThrow('another master key');
  for (let at = 0; at < sealed.length; at++) {
    const damaged = Buffer.from(sealed);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    expect(() => unseal(key, damaged, 'envvars:1'), `byte ${at}`).toThrow(UnsealError);
    expect(() => unseal(key, sealed.subarray(0, at), 'envvars:1'), `cut at ${at}`).toThrow(UnsealError);
  }
});

test('the same text is sealed differently each time and is not readable', () => {
  const sealed = seal(key, 'svc_dev_sk_abcdef', 'p');
  expect(seal(key, 'svc_dev_sk_abcdef', 'p').equals(sealed)).toBe(false);
  expect(sealed.toString('latin1')).not.toContain('svc_dev');
});
