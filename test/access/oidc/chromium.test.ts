import { expect, test } from 'vitest';
import { newContext } from '../../support/chromium.ts';
import { start } from './world.ts';

test(
  'the dashboard leads through the provider to the requested page, where a machine is approved',
  { timeout: 90_000 },
  async () => {
    const { provider, here } = await start();
    provider.accounts.set('ada', { name: 'Ada Lovelace', groups: ['eng'] });
    const page = await (await newContext()).newPage();
    const codes = (
      await here.ask('POST /api/v1/authorization-code', { key: '', body: { hostName: 'build machine' } })
    ).body;

    await page.goto(`${here.server.url}/account?approve=${codes.userCode}`);
    await page.getByRole('link', { name: 'Sign in with Example SSO' }).click();
    await page.locator('input[name=login]').fill('ada');
    await page.locator('input[name=password]').fill('x');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();

    // The cookie is strict, and yet the page that follows the provider's is logged in.
    await page.getByRole('button', { name: 'Show the request' }).click();
    const dialog = page.getByRole('alertdialog');
    await expect.poll(() => dialog.textContent()).toContain('build machine');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    const fetched = async () =>
      (
        await here.ask('POST /api/v1/token', {
          key: '',
          body: { authorizationCode: codes.authorizationCode },
        })
      ).body.token;
    await expect
      .poll(fetched, { interval: 2_000, timeout: 20_000 })
      .toMatchObject({ token: expect.any(String) as string });
    expect(await page.locator('body').textContent()).toContain('Identity provider');
    await page.goto(here.server.url);
    await expect.poll(() => page.url()).toContain(`/p/${here.projectRef}/dev`);
  },
);
