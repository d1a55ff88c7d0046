import { expect, test } from 'vitest';
import { registerVersionBody } from './manifest.ts';

test.each([
  ['ttl', { ttl: 2_147_483_648 }],
  ['maxDuration', { maxDuration: 2_147_483_648 }],
  ['concurrencyLimit', { queue: { name: 'q', concurrencyLimit: 2_147_483_648 } }],
])('a version with a %s that cannot be stored is rejected', (name, member) => {
  const task = { id: 'send', filePath: 'tasks.ts', ...member };
  const { success, error } = registerVersionBody.safeParse({ contentHash: 'the content', tasks: [task] });
  expect([success, error?.issues[0]?.path]).toEqual([false, expect.arrayContaining([name])]);
});
