import { expect, test } from 'vitest';
import type { Principal } from '../auth/principal.ts';
import { responseKey, IdempotentResponses } from './idempotent-responses.ts';

const environment = {
  id: 1,
  publicId: 'env_1',
  kind: 'dev',
  branch: null,
  projectId: 1,
  projectRef: 'proj_a',
} as const;
const key: Principal = { kind: 'secretKey', credentialId: 'key_1', environment, scopes: ['admin'] };

const counted = () => {
  let acts = 0;
  return async () => ({ text: String((acts += 1)), headers: [['a', 'b']] as const });
};

test('a repeated request receives the first response, even while that is in progress', async () => {
  const responses = new IdempotentResponses();
  const act = counted();
  const both = await Promise.all([responses.once('k', act), responses.once('k', act)]);
  expect(both).toEqual([
    { text: '1', headers: [['a', 'b']] },
    { text: '1', headers: [['a', 'b']] },
  ]);
  expect((await responses.once('other', act)).text).toBe('2');
  expect((await responses.once('k', act)).text).toBe('1');
});

test('failures are not stored, and responses expire after a day', async () => {
  let now = 1;
  const responses = new IdempotentResponses({ now: () => now });
  const act = counted();
  await expect(responses.once('k', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect((await responses.once('k', act)).text).toBe('1');
  now += 24 * 3_600_000;
  expect((await responses.once('k', act)).text).toBe('1');
  now += 1;
  expect((await responses.once('k', act)).text).toBe('2');
});

test('storage is limited, the oldest responses are evicted first, and a long response is not stored', async () => {
  const responses = new IdempotentResponses();
  const long = { text: 'x'.repeat(60_000), headers: [] };
  for (let i = 0; i < 1_000; i += 1) await responses.once(`k${i}`, async () => long);
  expect(responses.size).toBeLessThan(300);
  const act = counted();
  expect(await responses.once('k999', act)).toBe(long);
  expect((await responses.once('k0', act)).text).toBe('1');
  await responses.once('longest', async () => ({ text: 'x'.repeat(70_000), headers: [] }));
  expect((await responses.once('longest', act)).text).toBe('2');
});

test('the key depends on the caller, the operation and the object', () => {
  const token = (tokenDigest: string): Principal => ({
    ...key,
    kind: 'publicToken',
    tokenDigest,
    signerId: 'key_1',
    expiresAt: new Date(),
  });
  const user: Principal = { kind: 'personalAccessToken', credentialId: 'key_1', userId: 'user_1' };
  const keys = [
    responseKey('a', key, 'u', '/x'),
    responseKey('b', key, 'u', '/x'),
    responseKey('a', key, 'u', '/y'),
    responseKey('a', key, 'v', '/x'),
    responseKey('a', { ...key, credentialId: 'key_2' }, 'u', '/x'),
    responseKey('a', { ...key, environment: { ...environment, id: 2 } }, 'u', '/x'),
    responseKey('a', token('d'), 'u', '/x'),
    responseKey('a', token('e'), 'u', '/x'),
    responseKey('a', user, 'u', '/x'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  for (const none of [undefined, '', 'x'.repeat(129)])
    expect(responseKey('a', key, none, '/x')).toBeUndefined();
  expect(responseKey('a', null, 'u', '/x')).toBeUndefined();
});
