import { expect, test } from 'vitest';
import {
  credentialDigest,
  credentialForm,
  lastFour,
  markerForms,
  newPersonalAccessToken,
  newProjectRef,
  newSecretKey,
} from './keys.ts';

test('keys, tokens and project references have the published formats and are unique', () => {
  const keys = Array.from({ length: 200 }, () => newSecretKey('prod'));
  for (const key of keys) expect(key).toMatch(/^svc_prod_sk_[0-9A-Za-z]{24}$/);
  expect(new Set(keys).size).toBe(200);
  for (let i = 0; i < 50; i++) {
    expect(newPersonalAccessToken()).toMatch(/^svc_pat_[123456789abcdefghijkmnopqrstuvwxyz]{40}$/);
    expect(newProjectRef()).toMatch(/^proj_[a-z]{20}$/);
  }
});

test('a key has the same digest with either prefix', () => {
  const key = newSecretKey('dev');
  const foreign = key.replace('svc_', 'tr_');
  expect(credentialDigest(foreign)).toEqual(credentialDigest(key));
  expect(credentialDigest(newSecretKey('dev'))).not.toEqual(credentialDigest(key));
  expect(markerForms(foreign)).toEqual([key, foreign]);
  expect(lastFour(key)).toBe(key.slice(-4));
});

test('the kind of a credential is determined by its text alone', () => {
  expect(credentialForm(newSecretKey('preview'))).toBe('secretKey');
  expect(credentialForm(`tr_stg_${'a'.repeat(24)}`)).toBe('secretKey');
  expect(credentialForm(newPersonalAccessToken())).toBe('personalAccessToken');
  expect(credentialForm('eyJhbGciOiJIUzI1NiJ9.eyJwdWIiOnRydWV9.c2ln')).toBe('publicToken');
  const others = [
    '',
    'svc_',
    `svc_test_sk_${'a'.repeat(24)}`,
    `svc_dev_sk_${'a'.repeat(23)}`,
    `svc_dev_sk_${'a'.repeat(25)}`,
    `pk_dev_${'a'.repeat(24)}`,
    `svc_pat_${'0'.repeat(40)}`,
  ];
  expect(others.filter((text) => credentialForm(text) !== undefined)).toEqual([]);
});
