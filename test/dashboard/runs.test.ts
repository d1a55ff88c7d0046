import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { startProject } from '../support/project.ts';
import { serverOfFile, type TestServer } from '../support/server.ts';

const newTenant = serverOfFile();

const tasks = {
  'tasks/shop.ts': `
    import { logger, task, wait } from '@millrace/sdk';
    export const greet = task({
      id: 'greet',
      run: async ({ name }: { name: string }) => {
        logger.info('greeting ' + name, { name });
        return { greeting: 'Hello ' + name };
      },
    });
    export const hold = task({ id: 'hold', run: async () => wait.for({ hours: 1 }) });
    export const charge = task({
      id: 'charge',
      retry: { maxAttempts: 1 },
      run: async ({ card }: { card: string }) => {
        logger.info('charging ' + card);
        throw new TypeError('card ' + card + ' was refused');
      },
    });
    export const order = task({
      id: 'order',
      retry: { maxAttempts: 1 },
      run: async () => {
        throw new Error('order failed', { cause: new RangeError('stock is -1') });
      },
    });
    export const flaky = task({
      id: 'flaky',
      retry: { maxAttempts: 2, minTimeoutInMs: 3_600_000, maxTimeoutInMs: 3_600_000 },
      run: async () => {
        throw new Error('not yet');
      },
    });
  `,
};

async function trigger(server: TestServer, task: string, payload: unknown): Promise<string> {
  const { status, body } = await server.ask(`/api/v1/tasks/${task}/trigger`, {
    method: 'POST',
    body: { payload },
  });
  expect(status).toBe(200);
  return body.id;
}

const statusOf = async (server: TestServer, run: string): Promise<string> =>
  (await server.ask(`/api/v3/runs/${run}`)).body.status;

/** Browsers start slowly where many tests run at once. */
const slow = { timeout: 180_000 };

test('a run is found in the list, opened, and replayed with another payload', slow, async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  const first = await trigger(server, 'greet', { name: '<img src=x onerror=alert(1)>' });
  const failed = await trigger(server, 'charge', { card: '4242' });
  await expect.poll(() => statusOf(server, first)).toBe('COMPLETED');
  await expect.poll(() => statusOf(server, failed)).toBe('FAILED');

  const { page, open } = await openDashboard(server);
  await open('/runs');
  const grid = page.getByRole('grid', { name: 'Runs' });
  await expect.poll(() => grid.getByRole('row').count()).toBe(3);

  // The reason of a failure is in the list, and filters it.
  await grid.getByText('card 4242 was refused').waitFor();
  await grid.getByRole('button', { name: 'TypeError' }).click();
  await page.waitForURL(({ search }) => search === '?q=error:TypeError');
  await expect.poll(() => grid.getByRole('row').count()).toBe(2);
  await open('/runs');
  await expect.poll(() => grid.getByRole('row').count()).toBe(3);

  // The filter is the address, and the address the filter.
  const filter = page.getByRole('combobox', { name: 'Filter' });
  await filter.fill('status:fai');
  await page.getByRole('option', { name: 'failed', exact: true }).click();
  await expect.poll(() => grid.getByRole('row').count()).toBe(2);
  expect(new URL(page.url()).search).toBe('?q=status:failed');
  await grid.getByRole('row').nth(1).getByRole('link').click();

  await page.getByRole('tab', { name: 'Error' }).waitFor();
  await page.getByText('card 4242 was refused').first().waitFor();
  await page.getByRole('region', { name: 'Log before the failure' }).getByText('charging 4242').waitFor();
  await page.getByRole('button', { name: 'Replay' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Payload' }).fill('{ "card": ');
  await dialog.getByRole('button', { name: 'Replay with this payload' }).click();
  await dialog.getByText('This is not JSON').waitFor();
  await dialog.getByRole('textbox', { name: 'Payload' }).fill('{ "card": "5555" }');
  await dialog.getByRole('button', { name: 'Replay with this payload' }).click();
  await page.waitForURL((url) => /\/runs\/run_/.test(url.pathname) && !url.pathname.endsWith(failed));
  await page.getByText('card 5555 was refused').first().waitFor();

  // Data is text, even when it looks like code.
  await open(`/runs/${first}?tab=payload`);
  await page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
  await page.getByRole('tab', { name: 'Logs' }).click();
  await page.getByText('greeting <img src=x').waitFor();
});

test('the root cause of a failure comes first, and a pending retry has its time', slow, async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  const failed = await trigger(server, 'order', {});
  const retrying = await trigger(server, 'flaky', {});
  await expect.poll(() => statusOf(server, failed)).toBe('FAILED');
  const { page, open } = await openDashboard(server);
  await open(`/runs/${failed}`);
  await page.getByRole('heading', { name: 'Root cause' }).waitFor();
  await page.locator('.one-error').first().getByText('stock is -1').waitFor();
  await page.locator('.error-cause').getByText('order failed').waitFor();
  await open(`/runs/${retrying}`);
  await page.getByText('Its last attempt failed; the next one is due at').waitFor();
  await page
    .getByRole('status')
    .getByText(/^in \d+[mh]$/)
    .waitFor();
});

test('a waiting run shows why it waits, and is canceled', slow, async () => {
  const server = await newTenant();
  await startProject(server, tasks);
  const run = await trigger(server, 'hold', {});
  await expect.poll(() => statusOf(server, run)).toBe('WAITING');
  const { page, open } = await openDashboard(server);
  await open(`/runs/${run}`);
  await page
    .getByText(/is waiting until/)
    .first()
    .waitFor();
  await page.getByRole('treegrid', { name: 'Timeline' }).getByText('hold').waitFor();
  // It has not executed for a measurable time: a duration would be wrong.
  expect(
    await page
      .locator('.property', { hasText: 'Duration' })
      .getByText(/^0 ?ms/)
      .count(),
  ).toBe(0);
  await page.keyboard.press('c');
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('Cancel this run?').waitFor();
  await dialog.getByRole('button', { name: 'Cancel 1 run' }).click();
  await page.getByText('Canceled', { exact: true }).first().waitFor();
  await expect.poll(() => statusOf(server, run)).toBe('CANCELED');
});

test(
  'new runs appear automatically, selected ones stay selected, and all matching runs are canceled with their count',
  slow,
  async () => {
    const server = await newTenant();
    await server.ask('/runner/v1/versions', {
      method: 'POST',
      body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'slow', filePath: 'slow.ts' }] },
    });
    for (let n = 0; n < 3; n++) await trigger(server, 'slow', { n });
    const { page, open } = await openDashboard(server);
    await open('/runs');
    const grid = page.getByRole('grid', { name: 'Runs' });
    await expect.poll(() => grid.getByRole('row').count()).toBe(4);
    await grid.getByRole('checkbox', { name: 'Select the row' }).first().check();
    await trigger(server, 'slow', { n: 4 });
    // The pointer is on a row: the new run is not shown until it is requested.
    await grid.getByRole('row').nth(1).hover();
    await page.getByRole('button', { name: 'Show 1 new run' }).click();
    await expect.poll(() => grid.getByRole('row').count()).toBe(5);
    const bar = page.getByRole('region', { name: 'Selection' });
    await bar.getByText('1 run selected').waitFor();
    await bar.getByRole('button', { name: /Select all 4/ }).click();
    await bar.getByRole('button', { name: 'Cancel 4 runs' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel 4 runs' }).click();
    await page.getByText('Canceled 4 runs').waitFor();
  },
);

test('a deep link survives the login, and a wrong token is rejected with a sentence', slow, async () => {
  const server = await newTenant();
  const { page, open } = await openDashboard(server, { isLoggedIn: false });
  await open('/runs?q=status:failed');
  await page.getByRole('tab', { name: 'Token' }).click();
  await page.getByLabel('Personal access token').fill('pat_wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Personal access token').fill(server.personalAccessToken);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  expect(new URL(page.url()).search).toBe('?q=status:failed');
});
