import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { deployed, fetchingRunner } from '../support/deployment.ts';
import { promote } from '../support/promote.ts';
import { serverOfFile, type TestServer } from '../support/server.ts';

const newTenant = serverOfFile();

/** The task `checkout` fails in the second version, in which only its options differ otherwise. */
const shop = (isBroken: boolean): Record<string, string> => ({
  'tasks/shop.ts': `
    import { task } from '@millrace/sdk';

    export const checkout = task({
      id: 'checkout',
      retry: { maxAttempts: 1 },
      ${isBroken ? 'maxDuration: 60,' : ''}
      run: async () => {
        ${isBroken ? "throw new RangeError('the total is negative');" : "return 'paid';"}
      },
    });

    export const receipt = task({ id: 'receipt', run: async () => 'sent' });
  `,
});

async function checkOut(server: TestServer, status: string): Promise<void> {
  const { body } = await server.ask('/api/v1/tasks/checkout/trigger', { method: 'POST', body: {} });
  await expect
    .poll(async () => (await server.ask(`/api/v3/runs/${body.id}`)).body.status, { timeout: 30_000 })
    .toBe(status);
}

const git = (digit: string, message: string) => ({
  git: {
    commit: digit.repeat(40),
    branch: 'main',
    message,
    author: 'Ada Lovelace',
    remote: 'https://ada:secret@github.com/acme/shop.git',
  },
});

// Bundling two versions and starting a runner with its executor processes takes several seconds, and the statistics are up to ten seconds old.
test(
  'in the browser alone, a person finds the deployment that broke checkout, and rolls it back',
  { timeout: 120_000 },
  async () => {
    const server = await newTenant();
    const { loaded } = await fetchingRunner(server);
    const deploy = async (isBroken: boolean, digit: string, message: string): Promise<string> => {
      const version = await deployed(server, shop(isBroken), undefined, git(digit, message));
      await expect.poll(() => loaded.map((entry) => entry.version), { timeout: 30_000 }).toContain(version);
      return promote(server.url, server.keys.prod, version);
    };
    const good = await deploy(false, 'a', 'Send receipts');
    await checkOut(server, 'COMPLETED');
    const bad = await deploy(true, 'b', 'Round totals');
    await checkOut(server, 'FAILED');

    const { page, open } = await openDashboard(server);
    let clicks = 0;
    const click = async (target: Locator): Promise<void> => {
      await target.click();
      clicks += 1;
    };
    await open('/errors');
    await click(page.getByRole('grid', { name: 'Errors' }).getByRole('link', { name: /RangeError/ }));
    const introduced = page.getByRole('region', { name: 'Which version broke this' });
    await introduced.getByText(`First seen in ${bad}, after ${good}.`).waitFor();
    await introduced.getByRole('list', { name: 'Occurrences by version' }).getByText('1×').waitFor();
    await click(introduced.getByRole('link', { name: 'Compare the two and roll back' }));

    await page.waitForURL(`**/versions/${bad}/compare?with=${good}`);
    const row = page.getByRole('grid', { name: 'Compared tasks' }).getByRole('row').nth(1);
    await row.getByRole('link', { name: 'checkout' }).waitFor();
    await row.getByText('Changed').waitFor();
    // The page asks again every ten seconds, and servers count every ten seconds.
    await row.getByText('0 % → 100 %').waitFor({ timeout: 40_000 });
    await page.getByRole('cell', { name: 'maxDuration' }).waitFor();
    const deployments = page.getByRole('grid', { name: 'Deployments' });
    await deployments.getByText('Round totals').waitFor();
    await deployments.getByText('Ada Lovelace').waitFor();
    const commits = page.getByRole('link', { name: 'Commits on github.com' });
    expect(await commits.getAttribute('href')).toBe(
      `https://github.com/acme/shop/compare/${'a'.repeat(40)}...${'b'.repeat(40)}`,
    );

    await click(page.getByRole('button', { name: `Roll back to ${good}` }));
    await click(page.getByRole('alertdialog').getByRole('button', { name: `Roll back to ${good}` }));
    await expect.poll(async () => (await server.ask('/api/v1/deployments/current')).body.version).toBe(good);
    expect(clicks).toBe(4);
    await checkOut(server, 'COMPLETED');
    // It is rolled back, so the page offers no rollback.
    await page.getByRole('button', { name: `Roll back to ${good}` }).waitFor({ state: 'detached' });

    // The comparison is also linked from the list of versions, a version and a run.
    await open('/versions');
    await page.getByRole('button', { name: `Actions for ${bad}` }).click();
    await page.getByRole('menuitem', { name: 'Compare with the version before' }).click();
    await page.waitForURL(`**/versions/${bad}/compare`);
    await page.getByLabel('Compared with').selectOption(good);
    await page.waitForURL(`**/versions/${bad}/compare?with=${good}`);
    const [run] = (await server.ask(`/api/v1/runs?filter[version]=${bad}`)).body.data;
    await open(`/runs/${run.id}`);
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.waitForURL(`**/versions/${bad}/compare`);
  },
);

test('a version without another one, and one that does not exist, have nothing to compare', async () => {
  const server = await newTenant();
  const { body } = await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'checkout', filePath: 'shop.ts' }] },
  });
  const compared = (version: string, query = '') =>
    server.ask(`/api/v1/deployments/${version}/compare${query}`);
  expect(await compared(body.version)).toMatchObject({ status: 422 });
  expect(await compared(body.version, `?with=${body.version}`)).toMatchObject({ status: 422 });
  expect(await compared(body.version, '?with=20200101.1')).toMatchObject({ status: 404 });
  const { page, open } = await openDashboard(server);
  await open(`/versions/${body.version}/compare`);
  await page.getByText('Nothing to compare.').waitFor();
  await open('/versions/20200101.1/compare');
  await page.getByText('Version not found in this environment.').waitFor();
  expect(await page.getByLabel('Version', { exact: true }).inputValue()).toBe('20200101.1');
});
