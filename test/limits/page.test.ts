import { expect, test } from 'vitest';
import { limitsPage } from './page.ts';

test('docs/limits.md has the numbers of the code', async () => {
  await expect(limitsPage()).toMatchFileSnapshot('../../docs/limits.md');
});
