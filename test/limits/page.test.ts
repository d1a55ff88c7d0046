import { expect, it } from 'vitest';
import { limitsPage } from './page.ts';

it('docs/limits.md has the numbers of the code', async () => {
  await expect(limitsPage()).toMatchFileSnapshot('../../docs/limits.md');
});
