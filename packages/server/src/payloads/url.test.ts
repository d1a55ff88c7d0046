import { expect, test } from 'vitest';
import { masterKeyOf } from '../auth/seal.ts';
import { packetAddresses, packetPath } from './url.ts';

const old = masterKeyOf(Buffer.alloc(32, 1));
const next = masterKeyOf(Buffer.alloc(32, 2));
const grant = { act: 'put', env: 1, name: 'a.json' } as const;
const tokenOf = (path: string) => path.slice(packetPath.length);

test('accepts the signature of the other master key during a rotation but not afterwards', () => {
  const before = packetAddresses({ ...old, previous: next });
  const after = packetAddresses({ ...next, previous: old });
  for (const [signer, reader] of [
    [before, after],
    [after, before],
  ] as const) {
    expect(reader.verify(tokenOf(signer.sign(grant, 0, Infinity)), 'put', 0)).toMatchObject(grant);
  }
  const token = tokenOf(before.sign(grant, 0, Infinity));
  expect(() => packetAddresses(next).verify(token, 'put', 0)).toThrow('not signed by this server');
});

test('does not outlive the credential of its caller', () => {
  const addresses = packetAddresses(old);
  const token = tokenOf(addresses.sign(grant, 0, 20_000));
  expect(addresses.verify(token, 'put', 20_000)).toMatchObject(grant);
  expect(() => addresses.verify(token, 'put', 20_001)).toThrow('no longer valid');
});
