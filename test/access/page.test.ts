import { expect, it } from 'vitest';
import { accessPage } from './page.ts';

it('docs/access.md says what the contract says', async () => {
  await expect(accessPage()).toMatchFileSnapshot('../../docs/access.md');
});
