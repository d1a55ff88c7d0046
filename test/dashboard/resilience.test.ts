import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { openDashboard } from '../support/dashboard.ts';
import { serverOfFile, testServer } from '../support/server.ts';

const newTenant = serverOfFile();

/** Browsers start slowly where many tests run at once. */
const slow = { timeout: 180_000 };

test(
  'an unreachable server is reported, and the data and input are kept; the page recovers automatically',
  slow,
  async () => {
    const server = await newTenant();
    await server.ask('/runner/v1/versions', {
      method: 'POST',
      body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'slow', filePath: 'slow.ts' }] },
    });
    await server.ask('/api/v1/tasks/slow/trigger', { method: 'POST', body: {} });
    const { page, open } = await openDashboard(server);
    await open('/runs');
    const grid = page.getByRole('grid', { name: 'Runs' });
    await expect.poll(() => grid.getByRole('row').count()).toBe(2);
    await page.context().setOffline(true);
    const banner = page.getByText('The server cannot be reached.');
    await banner.waitFor();
    await page.getByRole('combobox', { name: 'Filter' }).fill('task:slow sta');
    expect(await grid.getByRole('row').count()).toBe(2);
    await server.ask('/api/v1/tasks/slow/trigger', { method: 'POST', body: {} });
    await page.context().setOffline(false);
    await banner.waitFor({ state: 'hidden' });
    expect(await page.getByRole('combobox', { name: 'Filter' }).inputValue()).toBe('task:slow sta');
    await page.mouse.move(5, 5);
    await expect.poll(() => grid.getByRole('row').count(), { timeout: 15_000 }).toBe(3);
  },
);

test('a hidden tab sends no requests, and continues when it is shown', slow, async () => {
  const server = await newTenant();
  const { page, open, settled } = await openDashboard(server);
  await page.clock.install();
  await open('');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await settled();
  let requests = 0;
  page.on('request', () => (requests += 1));
  const pass = async (): Promise<void> => {
    requests = 0;
    await page.clock.runFor(60_000);
    await settled();
  };
  await pass();
  expect(requests).toBeGreaterThan(0);
  const show = (isHidden: boolean): Promise<void> =>
    page.evaluate((hidden) => {
      const { document: tab } = globalThis as unknown as { document: EventTarget };
      Object.defineProperty(tab, 'hidden', { configurable: true, get: () => hidden });
      Object.defineProperty(tab, 'visibilityState', {
        configurable: true,
        get: () => (hidden ? 'hidden' : 'visible'),
      });
      tab.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }, isHidden);
  await show(true);
  await pass();
  expect(requests).toBe(0);
  await show(false);
  await expect.poll(() => requests).toBeGreaterThan(0);
});

test('a read-only member sees no button that changes data', slow, async () => {
  const server = await newTenant();
  await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'slow', filePath: 'slow.ts' }] },
  });
  const { body: run } = await server.ask('/api/v1/tasks/slow/trigger', { method: 'POST', body: {} });
  const { page, open } = await openDashboard(server);
  await open(`/runs/${run.id}`);
  await page.getByRole('button', { name: 'Cancel run' }).waitFor();
  // The reply of the server, with another role: the page follows it.
  await page.route('**/api/v1/browser-sessions/current', async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replaceAll(/"role":"\w+"/g, '"role":"viewer"');
    await route.fulfill({ response, body: text });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Show code' }).waitFor();
  expect(await page.getByRole('button', { name: /Cancel run|Replay/ }).count()).toBe(0);
});

test('a failure links to the section of the documentation that explains it', slow, async () => {
  // A separate server, because the test breaks it.
  const server = await testServer();
  const sql = connect(server.database, { name: 'test', max: 1 });
  onTestFinished(() => sql.end());
  // A server error, which is in its log.
  await sql`alter table queues rename to queues_away`;
  const { page, open } = await openDashboard(server);
  await open('/queues');
  const failure = page.getByRole('alert');
  await failure.getByText('Internal Server Error').waitFor();
  expect(await failure.textContent()).toContain('See: millrace help internal-server-error');
});
