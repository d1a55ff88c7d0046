import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newDeviceCode } from '../../auth/device-code.ts';
import { newInvitationToken, newPersonalAccessToken, newSecretKey } from '../../auth/keys.ts';
import { redactKeys, redactKeysInJson } from './key-shapes.ts';

const word = 'aB3'.repeat(8);
const attempt = `svc_run_eyJhbGciOiJIUzI1NiJ9.eyJydW4iOiJydW5fMSJ9.${'x-_'.repeat(14)}`;

describe('text with the form of a Millrace credential is redacted', () => {
  test.each([
    ['a secret key', newSecretKey('prod')],
    ['a preview key', newSecretKey('preview')],
    ['a key with the other prefix', newSecretKey('dev').replace('svc_', 'tr_')],
    ['a root key of the public API', `tr_prod_${word.slice(0, 20)}`],
    ['a personal access token', newPersonalAccessToken()],
    ['an invitation', newInvitationToken()],
    ['a login code', newDeviceCode()],
    ['the credential of an attempt', attempt],
  ])('%s', (_, key) => {
    for (const around of [
      (text: string) => text,
      (text: string) => `Authorization: Bearer ${text}, and more`,
      (text: string) => `{ KEY: '${text}' }`,
      (text: string) => `https://x.test/?key=${encodeURIComponent(text)}&b=1`,
    ]) {
      expect(redactKeys(around(key))).toBe(around('\u0000').replace(/\u0000|%00/, '<redacted>'));
    }
    const nested = JSON.stringify({ a: `x\n${key}`, b: [JSON.stringify({ [key]: `\\${key}` })] });
    expect(redactKeysInJson(nested)).not.toContain(key);
    expect(JSON.parse(redactKeysInJson(nested))).toMatchObject({ a: 'x\n<redacted>' });
  });

  test('even if truncation leaves only its beginning', () => {
    expect(redactKeys('KEY=svc_prod_sk_aB3aB… (512 more characters)')).toBe(
      'KEY=<redacted>… (512 more characters)',
    );
    expect(redactKeys(`${attempt.slice(0, 30)}…`)).toBe('<redacted>…');
  });
});

test.each([
  'a public token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJlbnYifQ.c2lnbmF0dXJl that a task hands out',
  'str_prod and attr_dev_mode, tr_user_name_of_some_length, svc_internal_service_name',
  'svc_prod_sk_…',
  'the prefix svc_pat_ alone',
])('%s is unchanged', (text) => {
  expect(redactKeys(text)).toBe(text);
});

test('JSON stays valid, even where a tab precedes text that only looks like a key', () => {
  const text = JSON.stringify({ a: `\tr_prod_${word}`, b: `\\\tr_prod_${word}` });
  expect(redactKeysInJson(text)).toBe(text);
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), fc.string(), (value, before, after) => {
      const json = JSON.stringify({ [`${before}k`]: value, text: `${before}svc_stg_sk_${word} ${after}` });
      const clean = redactKeysInJson(json);
      expect(() => JSON.parse(clean) as unknown).not.toThrow();
      expect(clean).not.toContain(word);
    }),
  );
});
