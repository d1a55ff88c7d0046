import { operations } from '@millrace/contract';
import { expect, test } from 'vitest';
import { accessPage, notServed } from './page.ts';

test('docs/access.md matches the contract', async () => {
  await expect(accessPage()).toMatchFileSnapshot('../../docs/access.md');
});

test('operations listed as not served are not served', () => {
  const shape = (method: string, path: string) => `${method} ${path.replace(/:\w+|\{\w+\}/g, ':')}`;
  const served = new Set(Object.values(operations).map(({ method, path }) => shape(method, path)));
  const named = notServed.flatMap(([names]) => names);
  expect(
    named
      .map((name) => name.split(' '))
      .filter(([method = '', path = '']) => served.has(shape(method, path))),
  ).toEqual([]);
});
